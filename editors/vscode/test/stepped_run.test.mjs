// What is said of a step: above its line, and in the panel.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { install } from './stub.mjs';

const require = createRequire(import.meta.url);
const esbuild = require('esbuild');

test('a step is said above its line without the line, and in the panel with it and what barriers count', () => {
  install();
  const source = fileURLToPath(new URL('../src/stepped_run.ts', import.meta.url));
  const built = esbuild.buildSync({ entryPoints: [source], bundle: true, format: 'cjs', platform: 'node', external: ['vscode'], write: false });
  const module = { exports: {} };
  new Function('module', 'exports', 'require', built.outputFiles[0].text)(module, module.exports, require);
  const { saidAbove, saidOf } = module.exports;
  const barrier = (name, changed) => ({ name, concerned: false, changed, words: 'phase 1, 1 of 1 arrival to come' });
  const step = (text, site, stuck, barriers) => ({
    partition: 'producer', location: { uri: '', range: { start: { line: 12, character: 4 }, end: { line: 12, character: 9 } } },
    text, number: null, site, stuck, barriers,
  });
  const steps = [
    step('writes ring[0]', 1, false, [barrier('ready[0]', true), barrier('free[0]', false)]),
    step('mbarrier.wait: waits for phase 1 of free[0] for ever', null, true, []),
    step('ttng.tc_gen5_mma: reads a[0]; reads b[0]; writes acc; ready[0] of CTA 0 still needs 1 arrival', null, false, []),
  ];
  const shown = (sites) => ({ target: { uri: '' }, title: '', message: '', sites, run: { version: 1, kernel: 'k', steps, picture: null } });
  assert.equal(saidAbove(shown(2), 0), '1/3 producer (1): writes ring[0]');
  assert.equal(saidAbove(shown(2), 1), '2/3 producer: waits for phase 1 of free[0] for ever');
  assert.equal(saidAbove(shown(2), 2), '3/3 producer: reads a[0]; reads b[0]; writes acc …');
  assert.equal(saidAbove(shown(2), 3), '');
  assert.equal(saidOf(shown(2), 0), 'Step 1 of 3, producer, line 13 (1): writes ring[0]. ready[0]: phase 1, 1 of 1 arrival to come.');
  assert.equal(saidOf(shown(2), 1), 'Step 2 of 3, producer, line 13: mbarrier.wait: waits for phase 1 of free[0] for ever.');
  // The only place of a finding needs no number.
  assert.equal(saidAbove(shown(1), 0), '1/3 producer: writes ring[0]');
});
