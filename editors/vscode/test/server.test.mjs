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
  await extension.activate({ subscriptions: [], extensionPath: here('..') });
  assert.deepEqual(seen.errors, []);
  assert.match(seen.status.text, /^Fencepost \d+\.\d+\.\d+$/);
  const own = ['fencepost.replay', 'fencepost.showStatus', 'fencepost.restart', 'fencepost.runCpu', 'fencepost.runGpu', 'fencepost.runGsan'];
  // The workspace is trusted, so the server has announced the command that runs a kernel.
  const commands = [...own, 'fencepost.runKernel', 'fencepost.replayLog', 'fencepost.showLog', 'fencepost.showReport', 'fencepost.showRun', 'fencepost.showTimeline', 'fencepost.showVerdict'].sort();
  assert.deepEqual(Object.keys(seen.commands).sort(), commands);
  const page = await seen.providers.fencepost.provideTextDocumentContent({ path: '/explain/deadlock.md' });
  assert.match(page, /^# deadlock\n/);
  // The client library provides the reports, since the server announced their scheme.
  const reports = seen.providers['fencepost-report'];
  await seen.commands['fencepost.showReport']({ uri: 'file:///k%201.ttgir', kernel: 'a&b', section: 2 });
  const shown = seen.shown.at(-1);
  assert.equal(shown, 'fencepost-report:/k 1.ttgir.report.txt?section=2&kernel=a%26b&uri=file:///k%201.ttgir');
  const report = await reports.provideTextDocumentContent(reportUri(shown), { isCancellationRequested: false });
  assert.match(report, /^The file is not open/);
  // The status of the active editor's kernels, as the real server says it.
  const said = await until(() => seen.bar.shown && /finding/.test(seen.bar.text) && seen.bar.text);
  assert.match(said, /^\$\(error\) \d+ findings?$/);
  assert.match(seen.bar.tooltip, /ws_gemm: found, \d+ finding/);
  await seen.commands['fencepost.showStatus']();
  assert.deepEqual(seen.picked.map((it) => it.label), ['$(error) ws_gemm']);
  await seen.commands['fencepost.restart']();
  assert.match(seen.status.text, /^Fencepost \d/);
  await extension.deactivate();
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

/** A name as VS Code hands it to the client: every sign of the query is quoted once more. */
function reportUri(text) {
  const [path, query] = text.split(/\?(.*)/s);
  return { scheme: 'fencepost-report', toString: () => `${encodeURI(path)}?${encodeURIComponent(query)}` };
}
