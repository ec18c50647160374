// The bundle starts the real server and talks with it, where one is built.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { install } from './stub.mjs';

const require = createRequire(import.meta.url);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const built = here('../../../target/debug/fencepost');
const server = process.env.FENCEPOST_SERVER_PATH || (existsSync(built) ? built : undefined);

test('the extension starts the server', { skip: server ? false : 'no server is built', timeout: 60_000 }, async () => {
  process.env.FENCEPOST_SERVER_PATH = server;
  const seen = install();
  const extension = require('../dist/extension.js');
  await extension.activate({ subscriptions: [], extensionPath: here('..') });
  assert.deepEqual(seen.errors, []);
  assert.match(seen.status.text, /^Fencepost \d+\.\d+\.\d+$/);
  assert.deepEqual(Object.keys(seen.commands).sort(), ['fencepost.restart', 'fencepost.showLog', 'fencepost.showRun']);
  const page = await seen.providers.fencepost.provideTextDocumentContent({ path: '/explain/deadlock.md' });
  assert.match(page, /^# deadlock\n/);
  await seen.commands['fencepost.restart']();
  assert.match(seen.status.text, /^Fencepost \d/);
  await extension.deactivate();
});
