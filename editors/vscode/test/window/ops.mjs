// A kernel in Python beside the ops that it is analysed as.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from './window.mjs';

/** The number of a line that an editor shows, by a text in it. */
async function lineOf(window, text) {
  return window.page.locator('.editor-instance').evaluateAll((all, text) => {
    for (const editor of all) {
      const line = [...editor.querySelectorAll('.view-line')].find((it) => it.textContent.includes(text));
      const top = line?.getBoundingClientRect().top;
      const numbers = [...editor.querySelectorAll('.line-numbers')];
      const number = line && numbers.find((it) => Math.abs(it.getBoundingClientRect().top - top) < 4);
      if (number && number.textContent) return Number(number.textContent);
    }
    return 0;
  }, text);
}

export async function opsBeside({ window, code, check, visible }) {
  await check('a kernel in Python stands beside its ops, and the cursor is marked on both sides', async () => {
    await window.page.locator('.tab[data-resource-name="broken.py"]').first().click();
    const lines = readFileSync(join(code.work, 'broken.py'), 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes('tma.async_load(desc'));
    await window.line(at + 1, 5);
    await window.command('Show the Ops of the Kernel Here');
    await until('the instances', () => visible('.quick-input-list .monaco-list-row', 'num_slots=3'));
    await window.page.locator('.quick-input-list .monaco-list-row').first().click();
    await until('the ops', () => visible('.tab', 'sum_rows.ttgir'));
    const marked = () => window.page.locator('.editor-instance').evaluateAll((all) => all.map((editor) => {
      const drawn = [...editor.querySelectorAll('.view-overlays [class*="ced-"]')].filter((it) => getComputedStyle(it).borderLeftWidth === '3px');
      const tops = drawn.map((it) => Math.round(it.getBoundingClientRect().top));
      const texts = [...editor.querySelectorAll('.view-line')].filter((line) => tops.some((top) => Math.abs(top - Math.round(line.getBoundingClientRect().top)) < 4));
      return texts.map((line) => line.textContent.replace(/\u00a0/g, ' ').trim());
    }).flat());
    await window.line(at + 1, 6);
    const has = (all, text) => all.some((line) => line.includes(text));
    await until('both sides of the load', async () => {
      const all = await marked();
      return has(all, 'tma.async_load(desc') && has(all, 'async_tma_copy_global_to_local');
    });
    // Each line is painted once: ranges of one line, one over the other, would darken it.
    const tops = await window.page.locator('.editor-instance').evaluateAll((all) => all.map((editor) => [...editor.querySelectorAll('.view-overlays [class*="ced-"]')]
      .filter((it) => getComputedStyle(it).borderLeftWidth === '3px').map((it) => Math.round(it.getBoundingClientRect().top))));
    for (const side of tops) assert.equal(new Set(side).size, side.length, `painted twice: ${side}`);
    await window.shot('ops');
    // From the ops to the Python.
    const copy = await lineOf(window, 'async_tma_copy_global_to_local');
    await window.page.locator('.tab', { hasText: 'sum_rows.ttgir' }).first().click();
    await window.line(1);
    await until('what it is', () => visible('.view-line', 'compiler'));
    await until('the marks of another line', async () => !has(await marked(), 'tma.async_load(desc'));
    await window.line(copy, 3);
    await until('the line of the op', async () => has(await marked(), 'tma.async_load(desc'));
    // An edit: nothing old is marked, and then the ops are those of the new text.
    await window.page.locator('.tab[data-resource-name="broken.py"]').first().click();
    await window.line(1);
    // A line of words would have its Enter taken by a suggestion.
    await window.press('Enter');
    await window.line(at + 2, 6);
    await until('marks of the new text', async () => has(await marked(), 'async_tma_copy_global_to_local'));
    await window.page.locator('.tab', { hasText: 'sum_rows.ttgir' }).first().click();
    await window.command('View: Close Editor');
    // Keys go to what is in front, which may be a panel.
    await window.page.locator('.tab[data-resource-name="broken.py"]').first().click();
  });
}
