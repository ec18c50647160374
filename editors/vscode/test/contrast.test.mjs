// What WCAG 2 asks of colours, by the numbers in the style of pages and in the marks: words 4.5 to 1, signs 3 to 1. What a
// browser makes of them is looked at in the window's test.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const style = read('../../../server/render/src/report/html/style.css');

/** How light a colour is, `#rgb` or `#rrggbb`. */
function light(colour) {
  const digits = colour.slice(1).replace(/^(.)(.)(.)$/, '$1$1$2$2$3$3');
  const parts = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ratio(one, other) {
  const [a, b] = [light(one), light(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** The colours that a rule sets. */
function colours(selector) {
  const at = style.indexOf(`${selector}{`);
  assert.ok(at >= 0, selector);
  const body = style.slice(at + selector.length + 1, style.indexOf('}', at));
  return Object.fromEntries([...body.matchAll(/--([\w-]+):(#\w+)/g)].map(([, name, colour]) => [name, colour]));
}

const THEMES = { light: colours(':root'), dark: colours(':root[data-theme=dark]') };
const WORDS = { bg: ['fg', 'quiet', 'link', 'bad', 'good', 'warn'], soft: ['fg', 'quiet', 'link'], 'bad-bg': ['fg', 'bad'], 'good-bg': ['fg', 'good'], 'warn-bg': ['fg', 'warn'], hot: ['fg', 'bad'] };
const SIGNS = { bg: ['control', 'write', 'hot-line', 'forward', 'backward', 'focus'], soft: ['control', 'hot-line'], hot: ['hot-line'] };

test('words and signs of a page stand out, in light and in dark', () => {
  assert.deepEqual(colours(':root:not([data-theme=light])'), THEMES.dark, 'dark is dark, whoever asks for it');
  for (const [theme, of] of Object.entries(THEMES)) {
    for (const [least, pairs] of [[4.5, WORDS], [3, SIGNS]]) {
      for (const [ground, all] of Object.entries(pairs)) {
        for (const name of all) {
          const found = ratio(of[name], of[ground]);
          assert.ok(found >= least, `${theme}: ${name} on ${ground} has ${found.toFixed(2)} of ${least}`);
        }
      }
    }
  }
});

test('the marks of verdicts stand out in the editor, and differ in their shapes', () => {
  const marks = [...read('../src/marks.ts').matchAll(/^ {2}(\w+): \{ draw: '([^']+)', light: '([^']+)', dark: '([^']+)'/gm)];
  assert.equal(marks.length, 6);
  for (const [, name, , light, dark] of marks) {
    // The grounds of VS Code's own themes.
    for (const [colour, ground] of [[light, '#ffffff'], [dark, '#1f1f1f']]) {
      assert.ok(ratio(colour, ground) >= 3, `${name}: ${ratio(colour, ground).toFixed(2)}`);
    }
  }
  assert.equal(new Set(marks.map(([, , draw]) => draw)).size, marks.length);
});
