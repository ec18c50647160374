// Kernels in the Test Explorer.

import { until } from './window.mjs';

export async function kernelTests({ window, check, visible }) {
  await check('kernels are tests, with what a run asserts at its line', async () => {
    await window.open('small.ttgir');
    await until('the lens', () => visible('.editor-group-container.active .codelens-decoration', 'finding'));
    await window.command('Testing: Focus on Test Explorer View');
    const row = (text) => window.page.locator('.test-explorer .monaco-list-row', { hasText: text }).first();
    // What can be done with a row is shown below the pointer, and rows move while those of other files come.
    const start = (text) => until(`the start of ${text}`, async () => {
      await row(text).hover({ timeout: 2000 }).catch(() => undefined);
      const button = row(text).locator('.action-label[aria-label*="Run Test"]').first();
      return button.click({ timeout: 2000 }).then(() => true, () => false);
    });
    await row('small.ttgir').waitFor();
    await row('small.ttgir').click();
    await window.press('ArrowRight');
    await row('ws_gemm').waitFor();
    await row('ws_gemm').click();
    await start('ws_gemm');
    await until('the question', () => visible('.monaco-dialog-box', 'Run small.ttgir'));
    await window.page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Run' }).first().click();
    await until('a failure', async () => (await row('ws_gemm').getAttribute('aria-label'))?.includes('Failed'));
    await until('the message in the code', () => visible('.editor-instance', 'deadlock'));
    await window.shot('tests');
    // The same kernel without the slip passes.
    await window.open('clean.ttgir');
    await row('clean.ttgir').click();
    await window.press('ArrowRight');
    const clean = window.page.locator('.test-explorer .monaco-list-row', { hasText: 'ws_gemm' });
    await until('its kernel', async () => (await clean.count()) > 1);
    await start('clean.ttgir');
    await until('the question', () => visible('.monaco-dialog-box', 'Run clean.ttgir'));
    await window.page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Run' }).first().click();
    await until('that it passes', async () => (await row('clean.ttgir').getAttribute('aria-label'))?.includes('Passed'));
    // One that takes long is stopped.
    await window.open('endless.ttgir');
    await until('the lens', () => visible('.editor-group-container.active .codelens-decoration', 'Run on CPU'));
    await row('endless.ttgir').waitFor();
    await start('endless.ttgir');
    const question = window.page.locator('.monaco-dialog-box', { hasText: 'Run endless.ttgir' });
    await until('the run', async () => {
      if (await question.isVisible()) await question.locator('.monaco-button', { hasText: 'Run' }).first().click();
      return visible('.notification-list-item', 'Running endless.ttgir');
    });
    await window.command('Test: Cancel Test Run');
    await until('the end of the run', async () => (await window.page.locator('.notification-list-item', { hasText: 'Running endless.ttgir' }).count()) === 0);
    // The items follow the text.
    await window.page.locator('.tab[data-resource-name="small.ttgir"]').first().click();
    await window.command('View: Toggle Primary Side Bar Visibility');
  });
}
