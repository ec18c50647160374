// The panels of a run and of a report: seen well in both themes, nothing told by colour alone, all of it by keys.

import assert from 'node:assert/strict';

import { dead, unreachable } from '../../../../tests/browser/keyboard.mjs';
import { coloursAlone, pale } from '../../../../tests/browser/legible.mjs';
import { until } from './window.mjs';

/** The panels that are open: the words of their tabs, what their pages have, and what is looked at in each. */
const PANELS = [
  { tab: 'Run:', has: '.steps-list', parts: { run: '.run-head', lanes: '.picture-box' } },
  { tab: 'Report:', has: 'table.coverage', parts: { report: 'h2', graph: 'svg.net', memory: '.memory' } },
];

/** The frame of a panel, in front. */
async function front(window, { tab, has }) {
  await window.page.locator('.tab', { hasText: tab }).first().click();
  const frame = await window.panel(has);
  await until('its page is seen', () => frame.locator(has).first().isVisible());
  return frame;
}

/** Dark first, which is how the window is opened; it is left in light. */
export async function legible({ window, check }) {
  for (const theme of ['dark', 'light']) {
    if (theme === 'light') await window.command('Preferences: Toggle between Light/Dark Themes');
    for (const panel of PANELS) {
      await check(`${panel.tab} words and signs stand out in ${theme}, and nothing is told by colour alone`, async () => {
        const frame = await front(window, panel);
        await until('the theme', () => frame.evaluate((theme) => document.documentElement.dataset.theme === theme, theme));
        // Its colours come one after the other.
        await until('its colours', () => frame.evaluate((theme) => {
          const [red] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
          return theme === 'dark' ? red < 80 : red > 175;
        }, theme));
        await window.page.evaluate(() => Promise.all(document.getAnimations().map((it) => it.finished.catch(() => undefined))));
        for (const [name, selector] of Object.entries(panel.parts)) {
          await frame.locator(selector).first().evaluate((it) => it.scrollIntoView({ block: 'start' }));
          await window.shot(`${name}-${theme}`);
        }
        assert.deepEqual(await frame.evaluate(pale), []);
        assert.deepEqual(await frame.evaluate(coloursAlone), []);
      });
    }
  }
}

/** Gives the frame of the run, which is left in front. */
export async function usableByKeys({ window, check, cursor }) {
  for (const panel of PANELS) {
    await check(`${panel.tab} all that can be clicked is reached and worked by keys`, async () => {
      const frame = await front(window, panel);
      const run = (work, argument) => frame.evaluate(work, argument);
      await window.focus(frame, frame.locator('a[href]:visible, button:visible').first());
      const press = (key) => window.press(key === ' ' ? 'Space' : key);
      assert.deepEqual(await unreachable(run, press), []);
      assert.deepEqual(await dead(run, press), []);
    });
  }
  await check('Enter and the space bar take a step, and go to a line', async () => {
    let frame = await front(window, PANELS[0]);
    for (const [at, key] of [[1, 'Enter'], [0, 'Space']]) {
      await window.focus(frame, frame.locator('.steps-list button').nth(at));
      await window.press(key);
      await until(`step ${at + 1}`, async () => (await frame.locator('#count').innerText()).startsWith(`Step ${at + 1} of`));
    }
    frame = await front(window, PANELS[1]);
    const link = frame.locator('table.coverage a.at').first();
    const line = Number((await link.getAttribute('href')).slice(2));
    await window.focus(frame, link);
    await window.press('Enter');
    await until(`the cursor at line ${line}`, async () => (await cursor()) === line);
  });
  return front(window, PANELS[0]);
}

/** What explains a panel, and what stands above a step, is read without scrolling sideways where the window is narrow. */
export async function narrow({ window, check }) {
  const { width, height } = window.page.viewportSize();
  await window.page.setViewportSize({ width: 1000, height });
  for (const panel of PANELS) {
    await check(`${panel.tab} words and signs are within a narrow panel`, async () => {
      const frame = await front(window, panel);
      const wide = () => frame.evaluate(() => [...document.querySelectorAll('h1, h2, p, .legend > li')]
        .filter((it) => it.getClientRects().length > 0 && it.getBoundingClientRect().right > innerWidth + 1)
        .map((it) => it.textContent));
      await until('all of it', async () => (await wide()).length === 0);
      await frame.locator('.run-picture + .legend, .legend').last().evaluate((it) => it.scrollIntoView({ block: 'end' }));
      await window.shot(`narrow-${Object.keys(panel.parts)[0]}`);
    });
  }
  await window.page.setViewportSize({ width, height });
}
