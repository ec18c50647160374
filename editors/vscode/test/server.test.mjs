// The bundle starts the real server and talks with it, where one is built.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { install } from './stub.mjs';

const require = createRequire(import.meta.url);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const built = here('../../../target/debug/fencepost');
const server = process.env.FENCEPOST_SERVER_PATH || (existsSync(built) ? built : undefined);

if (!server) console.log('skipped: the extension starts the server: no server is built');

test('the extension starts the server', { skip: server ? false : 'no server is built', timeout: 60_000 }, async () => {
  process.env.FENCEPOST_SERVER_PATH = server;
  const text = readFileSync(here('../../../tests/kernels/ring_not_waited.ttgir'), 'utf8');
  const seen = install([{ uri: fileUri('/k.ttgir'), languageId: 'ttgir', version: 1, getText: () => text }]);
  const extension = require('../dist/extension.js');
  test.after(() => extension.deactivate());
  await extension.activate({ subscriptions: [], extensionPath: here('..') });
  assert.deepEqual(seen.errors, []);
  assert.match(seen.status.text, /^Fencepost \d+\.\d+\.\d+$/);
  const manifest = JSON.parse(readFileSync(here('../package.json'), 'utf8'));
  const own = manifest.contributes.commands.map((it) => it.command);
  // The workspace is trusted, so the server has announced the command that runs a kernel.
  const commands = [...own, 'fencepost.runKernel', 'fencepost.replayLog', 'fencepost.showVerdict', 'fencepost.showPython'].sort();
  assert.deepEqual(Object.keys(seen.commands).sort(), commands);
  // Runs on what there is: this machine's GPUs are the server's matter.
  assert.equal(seen.profiles[0].label, 'CPU');
  const page = await seen.providers.fencepost.provideTextDocumentContent({ path: '/explain/deadlock.md' });
  assert.match(page, /^# deadlock\n/);
  // The report of the open document is a panel's page, under a policy; it is made anew when asked for.
  await seen.commands['fencepost.showReport']({ uri: 'file:///k.ttgir', kernel: 'ws_gemm' });
  const [panel] = seen.panels;
  assert.match(panel.webview.html, /Barrier dependency graph/);
  assert.match(panel.webview.html, /default-src 'none'; style-src 'nonce-[^']+'; script-src 'nonce-[^']+'/);
  const [policy] = panel.webview.html.match(/'nonce-[^']+'/);
  for (const [tag] of panel.webview.html.matchAll(/<(?:style|script)\b[^>]*>/g)) {
    assert.ok(tag.includes(`nonce="${policy.slice(7, -1)}"`), tag);
  }
  assert.doesNotMatch(panel.webview.html, / style=/);
  // The status of the active editor's kernels, as the real server says it.
  const said = await until(() => seen.bar.shown && /finding/.test(seen.bar.text) && seen.bar.text);
  assert.match(said, /^\$\(error\) \d+ findings?(, \d+ hints?)?$/);
  assert.match(seen.bar.tooltip, /ws_gemm: found, \d+ finding/);
  await seen.commands['fencepost.showStatus']();
  assert.deepEqual(seen.picked.map((it) => it.label), ['$(error) ws_gemm']);
  await seen.commands['fencepost.restart']();
  assert.match(seen.status.text, /^Fencepost \d/);
});

/** The name of a file, as far as the client library looks at it. */
function fileUri(path) {
  return { scheme: 'file', path, fsPath: path, toString: () => `file://${path}` };
}

/** What a condition gives once it holds. */
async function until(condition) {
  for (let tries = 0; tries < 500; tries += 1) {
    const value = condition();
    if (value) {
      return value;
    }
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error('it never came');
}
