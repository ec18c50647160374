// A server that knows the protocol and one request beyond it: what a build between two releases may be.

let input = Buffer.alloc(0);

function say(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
}

function take({ id, method }) {
  if (method === 'exit') process.exit(0);
  if (id === undefined) return;
  const capabilities = { textDocumentSync: 2, experimental: { fencepost: { requests: ['fencepost/explain'] } } };
  say({ id, result: method === 'initialize' ? { capabilities, serverInfo: { name: 'fencepost', version: '0.1.0' } } : null });
}

process.stdin.on('data', (data) => {
  input = Buffer.concat([input, data]);
  for (;;) {
    const head = input.indexOf('\r\n\r\n');
    const length = Number(/Content-Length: (\d+)/.exec(input.toString('utf8', 0, Math.max(head, 0)))?.[1]);
    if (head < 0 || input.length < head + 4 + length) return;
    const body = input.toString('utf8', head + 4, head + 4 + length);
    input = input.subarray(head + 4 + length);
    take(JSON.parse(body));
  }
});
