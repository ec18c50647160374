// What the status bar says of a document.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { install } from './stub.mjs';

const require = createRequire(import.meta.url);
const esbuild = require('esbuild');

test('the status bar says the worst first, and never that nothing is wrong before all is known', () => {
  install();
  const source = fileURLToPath(new URL('../src/status.ts', import.meta.url));
  const built = esbuild.buildSync({ entryPoints: [source], bundle: true, format: 'cjs', platform: 'node', external: ['vscode'], write: false });
  const module = { exports: {} };
  new Function('module', 'exports', 'require', built.outputFiles[0].text)(module, module.exports, require);
  const { barText, detail } = module.exports;
  const kernel = (state, findings = 0, hints = 0) => ({ name: state, range: {}, state, findings, hints });
  const said = (state, ...kernels) => barText({ uri: '', version: 1, state, kernels, earlier: [] });
  assert.equal(detail(kernel('running')), 'running, first runs show nothing');
  assert.equal(detail(kernel('running', 1)), 'running, 1 finding');
  assert.equal(detail(kernel('found')), 'found, all of them suppressed');
  assert.equal(said('queued'), '$(sync~spin) queued');
  assert.equal(said('running'), '$(sync~spin) analysing');
  assert.equal(said('running', kernel('proved'), kernel('running')), '$(sync~spin) 1 kernel so far');
  assert.equal(said('running', kernel('found', 2), kernel('running')), '$(sync~spin) 1 kernel so far, 2 findings');
  assert.equal(said('done'), undefined);
  assert.equal(said('done', kernel('proved'), kernel('proved')), '$(pass) 2 proved');
  assert.equal(said('done', kernel('proved'), kernel('clean')), '$(pass) 1 proved, 1 clean');
  assert.equal(said('done', kernel('proved'), kernel('found', 1)), '$(error) 1 finding, 1 proved');
  assert.equal(said('done', kernel('proved', 0, 2)), '$(pass) 1 proved, 2 hints');
  assert.equal(said('done', kernel('found', 0)), '$(error) findings suppressed');
  assert.equal(said('done', kernel('found', 0, 1)), '$(error) 1 hint');
  assert.equal(said('done', kernel('proved'), kernel('undecided')), '$(question) 1 undecided, 1 proved');
  assert.equal(said('done', kernel('proved'), kernel('stale')), '$(history) 1 stale, 1 proved');
});
