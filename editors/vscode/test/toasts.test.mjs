// What is said in front of the window: in full, once, with ways to the rest.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { install } from './stub.mjs';

const require = createRequire(import.meta.url);
const esbuild = require('esbuild');

function loaded(name) {
  const source = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
  const built = esbuild.buildSync({ entryPoints: [source], bundle: true, format: 'cjs', platform: 'node', external: ['vscode'], write: false });
  const module = { exports: {} };
  new Function('module', 'exports', 'require', built.outputFiles[0].text)(module, module.exports, require);
  return module.exports;
}

test('what came of a run is said in one line, and the rest stands in the log', async () => {
  install();
  const vscode = require('vscode');
  const shown = [];
  for (const kind of ['Error', 'Warning', 'Information']) {
    vscode.window[`show${kind}Message`] = async (...said) => void shown.push([kind, ...said]);
  }
  const logged = [];
  const log = { error: (text) => logged.push(text), warn: (text) => logged.push(text), info: (text) => logged.push(text), show: () => {} };
  const { toastOf } = loaded('run');
  const { severityOf, showToast } = loaded('toasts');
  const answer = (state, more) => ({ state, summary: `k.ttgir: ${state}`, details: [], diagnostics: [], seconds: 0, outdated: false, ...more });

  assert.equal(toastOf(answer('cancelled')), undefined);
  await showToast(log, toastOf(answer('passed', { details: ['@f: the analysis proves it'] })));
  assert.deepEqual(shown.pop(), ['Information', 'k.ttgir: passed', 'Show Log']);
  assert.equal(logged.pop(), 'k.ttgir: passed\n  @f: the analysis proves it');
  await showToast(log, toastOf(answer('asserted', { diagnostics: [{}], details: ['@f: …'] })));
  assert.deepEqual(shown.pop(), ['Warning', 'k.ttgir: asserted', 'Show Problems', 'Show Log']);
  await showToast(log, toastOf(answer('refused', { summary: 'the file is not open' })));
  assert.deepEqual(shown.pop(), ['Warning', 'The file is not open']);
  // What would be cut off has a button, below which VS Code shows all of it.
  const long = `fencepost: ${'a sentence of the server that goes on '.repeat(3)}`;
  await showToast(log, { severity: severityOf(3), message: long });
  assert.deepEqual(shown.pop(), ['Information', long.replace('fencepost: a', 'A'), 'Show Log']);
});
