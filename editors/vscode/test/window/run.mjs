// The extension in a real VS Code window, as a user sees it. FENCEPOST_SHOTS names a folder for pictures.

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { kernelTests } from './kernel_tests.mjs';
import { oldServers } from './old_servers.mjs';
import { opsBeside } from './ops.mjs';
import { legible, narrow, usableByKeys } from './panels.mjs';
import { Code, PATIENCE, parts, until } from './window.mjs';

const tests = fileURLToPath(new URL('../../../../tests/', import.meta.url));
const found = parts();
if (found.missing) {
  console.log(`skipped: VS Code in a browser: ${found.missing}`);
  process.exit(0);
}
if (!existsSync(fileURLToPath(new URL('../../dist/extension.js', import.meta.url)))) {
  throw new Error('the extension is not built: npm run build');
}

const files = {
  'broken.ttgir': `${tests}kernels/ring_not_waited.ttgir`,
  'clean.ttgir': `${tests}kernels/ring.ttgir`,
  'sum_rows.py': `${tests}kernels/gluon/sum_rows.py`,
  'small.ttgir': `${tests}kernels/ring_not_waited.ttgir`,
  'runs.ttgir': `${tests}runs/ttgir/sm_100/softmax.ttgir`,
};
const code = await Code.start(found, { files });
const wait = /^ +mbarrier\.wait\(free\.index.*\n/m;
writeFileSync(join(code.work, 'broken.py'), readFileSync(files['sum_rows.py'], 'utf8').replace(wait, ''));
mkdirSync(join(code.work, 'python'));
cpSync(`${tests}runs/python/matmul.py`, join(code.work, 'python', 'matmul.py'));
// The same kernel, on so much that nobody waits for its end.
const recipe = '// fencepost-run: matmul grid=(4096) a=f16[4096,2048] b=f16[2048,4096] c=f16[4096,4096]:nan M=4096 N=4096 K=2048\n';
const matmul = readFileSync(`${tests}runs/ttgir/sm_90/matmul.ttgir`, 'utf8');
for (const name of ['long.ttgir', 'endless.ttgir']) writeFileSync(join(code.work, name), recipe + matmul.slice(matmul.indexOf('\n') + 1));
let window;
let passed = 0;
/** One thing that a user does. */
const check = async (name, work) => {
  try {
    await work();
    passed += 1;
    console.log(`ok ${name}`);
  } catch (error) {
    await window?.shot(`failed-${name.replace(/\W+/g, '-')}`);
    error.message = `${name}: ${error.message}`;
    throw error;
  }
};
const visible = (selector, text) => window.page.locator(selector, text ? { hasText: text } : undefined).first().isVisible();
const cursor = async () => {
  const text = await window.page.locator('#status\\.editor\\.selection').innerText();
  return Number(/Ln (\d+)/.exec(text)[1]);
};

try {
  window = await code.window();
  await window.open('broken.ttgir');

  await check('a squiggle where the finding is', async () => {
    await until('the lens', () => visible('.codelens-decoration', '1 finding'));
    await window.nextProblem();
    await until('a squiggle', () => visible('.squiggly-error'));
    await window.shot('squiggle');
  });

  await check('a mark at the name of a kernel says it by a shape', async () => {
    const contents = () => window.page.evaluate(() => [...document.querySelectorAll('.view-line span')].map((it) => getComputedStyle(it, '::before').content));
    const shape = async (name, verdict) => {
      await window.open(name);
      await window.line(1);
      await until('the lens', () => visible('.editor-group-container.active .codelens-decoration', verdict));
      // Dots, which are no path, are there until the kernel is judged.
      return until('a mark', async () => {
        const drawn = (await contents()).map((it) => /data:image\/svg\+xml;base64,([\w+/=]+)/.exec(it)?.[1]).find(Boolean);
        return / d="([^"]+)"/.exec(Buffer.from(drawn ?? '', 'base64').toString())?.[1];
      });
    };
    assert.notEqual(await shape('clean.ttgir', 'proved'), await shape('broken.ttgir', '1 finding'));
    await window.shot('mark');
  });

  await check('the status says the verdict', async () => {
    await until('the item', () => visible('#fencepost\\.fencepost\\.fencepost\\.status, [id*="fencepost.status"]', 'finding'));
  });

  await check('a hover tells the story', async () => {
    await window.nextProblem();
    await window.command('Show or Focus Hover');
    await until('the hover', () => visible('.monaco-hover', 'missing-forward-barrier'));
    await window.shot('hover');
    await window.press('Escape');
    await window.press('Escape');
  });

  await check('Problems has the steps in order', async () => {
    await window.command('Problems: Focus on Problems View');
    const row = window.page.locator('.markers-panel .monaco-list-row', { hasText: 'missing-forward-barrier' }).first();
    await row.waitFor();
    const rows = window.page.locator('.markers-panel .monaco-list-row');
    await until('related places', async () => {
      // A list that is filled anew meanwhile is folded again.
      await row.click();
      await window.press('ArrowRight');
      return until('rows at once', async () => (await rows.count()) > 4, 2000).then(() => true, () => false);
    });
    const texts = await rows.allInnerTexts();
    const numbers = texts.map((text) => /\((\d)\)/.exec(text)?.[1]).filter(Boolean);
    assert.deepEqual(numbers.slice(0, 2), ['1', '2'], texts.join('\n'));
    await window.shot('problems');
    await window.command('View: Hide Panel');
  });

  let run;
  await check('a finding opens its run beside the code', async () => {
    await window.page.locator('.tab[data-resource-name="broken.ttgir"]').click();
    await window.line(7);
    await window.command('Show the Run of the Finding Here');
    run = await window.panel('.steps-list');
    assert.ok((await run.locator('.steps-list li').count()) > 2);
    assert.ok((await run.locator('.fitted a[data-step]:visible').count()) > 0);
    await until('the first step', async () => /^Step 1 of \d+, \w+, line \d+/.test(await run.locator('#now').innerText()));
    await window.shot('run');
  });

  await check('steps move the cursor and say the barriers', async () => {
    const seen = [await cursor()];
    const count = await run.locator('.steps-list li').count();
    await window.page.locator('.tab[data-resource-name="broken.ttgir"]').click();
    for (let step = 2; step <= count; step += 1) {
      await window.press('Alt+PageDown');
      await until(`step ${step}`, async () => (await run.locator('#count').innerText()) === `Step ${step} of ${count}`);
      const line = Number(/line (\d+)/.exec(await run.locator('#now').innerText())[1]);
      await until(`the cursor at line ${line}`, async () => (await cursor()) === line);
      seen.push(line);
    }
    assert.ok(new Set(seen).size > 1, seen.join());
    assert.match(await run.locator('#barriers').innerText(), /phase [01], \d+ of \d+ arrivals? /);
    assert.ok((await run.locator('a.now:visible').count()) === 1);
    await until('words above the line', () => visible('.codelens-decoration', `${count}/${count} `));
    const words = window.page.locator('.codelens-decoration', { hasText: `${count}/${count} ` }).first();
    await until('all of them', () => words.evaluate((it) => {
      const inside = (outer) => it.getBoundingClientRect().right <= outer.getBoundingClientRect().right;
      return it.scrollWidth <= it.clientWidth && inside(it.closest('.monaco-scrollable-element'));
    }));
    await window.shot('stepped');
    await window.press('Alt+PageUp');
    await until('a step back', async () => (await run.locator('#count').innerText()) === `Step ${count - 1} of ${count}`);
  });

  await check('the panel is gone through by keys alone', async () => {
    await window.focus(run, run.locator('#previous'));
    const before = await run.locator('#count').innerText();
    await window.press('ArrowLeft');
    await until('a step', async () => (await run.locator('#count').innerText()) !== before);
    await window.press('Home');
    await until('the first step', async () => /^Step 1 of/.test(await run.locator('#count').innerText()));
    assert.equal(await run.locator('.steps-list [aria-current="step"]').count(), 1);
    const stops = [];
    for (let tab = 0; tab < 4; tab += 1) {
      await window.press('Tab');
      stops.push(await run.evaluate(() => document.activeElement?.textContent?.slice(0, 20)));
    }
    assert.ok(new Set(stops).size > 2, stops.join('|'));
  });

  let report;
  await check('the report is a panel whose lines lead to the code', async () => {
    await window.page.locator('.tab[data-resource-name="broken.ttgir"]').click();
    await window.command('Show Barrier Report');
    report = await window.panel('table.coverage');
    assert.ok((await report.locator('svg.net').count()) > 0);
    await window.shot('report');
    const link = report.locator('table.coverage a.at').first();
    const line = Number((await link.getAttribute('href')).slice(2));
    await link.click();
    await until(`the cursor at line ${line}`, async () => (await cursor()) === line);
  });

  await check('nothing of a panel breaks its policy', async () => {
    const refused = window.console.filter((line) => /Content Security Policy/.test(line) && /nonce-/.test(line) && !/_defaultStyles/.test(line));
    assert.deepEqual(refused, []);
  });

  await check('panels survive a reload of the window', async () => {
    const loaded = window.page.waitForEvent('load');
    await window.command('Developer: Reload Window');
    await loaded;
    await window.page.waitForSelector('.monaco-workbench', { timeout: PATIENCE });
    await window.panel('table.coverage');
    await window.page.locator('.tab', { hasText: 'Run:' }).first().click();
    run = await window.panel('.steps-list');
    await until('the step', async () => /^Step \d+ of/.test(await run.locator('#count').innerText()));
  });

  await legible({ window, check });
  await narrow({ window, check });
  run = await usableByKeys({ window, check, cursor });

  await check('after an edit a run is said to be old, and the report is made anew', async () => {
    await window.page.locator('.tab[data-resource-name="broken.ttgir"]').click();
    await window.line(1);
    await window.press('End');
    await window.page.keyboard.type(' Edited.');
    await run.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await until('the banner, wherever one has scrolled to', () => run.locator('#stale').evaluate((it) => {
      const { top, bottom, height } = it.getBoundingClientRect();
      return height > 0 && top >= 0 && bottom <= innerHeight;
    }));
    await window.shot('stale');
    await run.locator('#again').click();
    // The page is made anew.
    await until('no banner', async () => {
      run = await window.panel('.steps-list');
      return !(await run.locator('#stale').isVisible().catch(() => true));
    });
  });

  await check('a quick fix takes the finding away', async () => {
    await window.page.locator('.tab[data-resource-name="broken.ttgir"]').click();
    await window.nextProblem();
    await window.press('Control+.');
    const offered = window.page.locator('.action-widget .monaco-list-row.action', { hasNotText: /Explain|Modify|suppress/i }).first();
    await offered.waitFor();
    await window.shot('fixes');
    await offered.click();
    await window.line(1);
    await until('no finding', () => visible('.codelens-decoration', 'proved'));
    await window.shot('fixed');
  });

  await check('a kernel is run, after a question in front of the window', async () => {
    await window.open('runs.ttgir');
    await until('the lens', () => visible('.editor-group-container.active .codelens-decoration', 'Run on CPU'));
    await window.page.locator('.editor-group-container.active .codelens-decoration a', { hasText: 'Run on CPU' }).first().click();
    await until('the question', () => visible('.monaco-dialog-box', 'Run runs.ttgir'));
    await window.shot('question');
    await window.page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Run' }).first().click();
    const toast = window.page.locator('.notification-list-item', { hasText: 'runs.ttgir: passed' }).first();
    await toast.waitFor({ timeout: PATIENCE });
    assert.match(await toast.locator('.notification-list-item-message').innerText(), /^runs\.ttgir: passed under ConSan and GSan \(CPU\), [\d.]+ m?s$/);
    // Nothing of it is cut off, and the rest is behind a button.
    assert.ok(await toast.locator('.notification-list-item-message').evaluate((it) => it.scrollWidth <= it.clientWidth));
    await toast.locator('.monaco-button', { hasText: 'Show Log' }).first().waitFor({ timeout: PATIENCE });
    await window.shot('ran');
    assert.match(code.log(), /runs\.ttgir: passed under .*\n {2}@softmax: /);
  });

  await check('program and IR stand side by side, and the cursor is marked on both', async () => {
    await window.open('long.ttgir');
    const lines = readFileSync(join(code.work, 'long.ttgir'), 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes('tt.get_program_id'));
    const lens = window.page.locator('.editor-group-container.active .codelens-decoration a', { hasText: 'Show program beside' }).first();
    await lens.click();
    await until('the program by the lens', () => visible('.tab.active', 'matmul.py'));
    await window.line(at + 1, lines[at].indexOf('tt.get_program_id') + 2);
    await window.command('Show Program and IR Side by Side');
    await until('the program', () => visible('.tab.active', 'matmul.py'));
    await until('marks on both sides', async () => {
      const editors = window.page.locator('.editor-instance');
      let marked = 0;
      for (let side = 0; side < (await editors.count()); side += 1) {
        const drawn = editors.nth(side).locator('.view-overlays [class*="ced-"]');
        const borders = await drawn.evaluateAll((all) => all.map((it) => getComputedStyle(it).borderLeftWidth));
        marked += borders.includes('3px') ? 1 : 0;
      }
      return marked === 2;
    });
    await window.shot('linked');
  });

  await check('a kernel in Python has its run too, in its own names', async () => {
    await window.open('broken.py');
    await until('the lens', () => visible('.codelens-decoration', 'finding'));
    await window.command('Show the Run of the Finding Here');
    await until('its run', async () => {
      run = await window.panel('.steps-list');
      return /free\[|full\[/.test(await run.locator('#barriers').innerText().catch(() => ''));
    });
    assert.doesNotMatch(await run.locator('#barriers').innerText(), /%/);
    await window.shot('python');
  });

  await opsBeside({ window, code, check, visible });
  await kernelTests({ window, code, check, visible });

  await check('the code of a finding opens its page, as a page', async () => {
    await window.page.locator('.tab[data-resource-name="small.ttgir"]').first().click();
    await window.command('Problems: Focus on Problems View');
    const link = window.page.locator('.markers-panel .monaco-list-row a.code-link, .markers-panel .monaco-list-row .monaco-link', { hasText: 'missing-forward-barrier' }).first();
    await link.waitFor();
    // A list that is filled anew meanwhile has lost the click.
    const page = await until('its page', async () => {
      await link.click({ modifiers: ['ControlOrMeta'], timeout: 2000 }).catch(() => undefined);
      return window.panel('h1#missing-forward-barrier', 5000).catch(() => undefined);
    });
    assert.ok((await page.locator('pre code').count()) > 1);
    await until('no page as text', async () => (await window.page.locator('.tab[data-resource-name="missing-forward-barrier.md"]').count()) === 0);
    await window.shot('code-link');
    await window.command('View: Hide Panel');
  });

  await check('the page of a kind is a page', async () => {
    await window.command('Fencepost: Explain a Kind of Finding');
    await until('the kinds', () => visible('.quick-input-list .monaco-list-row', 'global-race'));
    // Keys that are typed before the list has the focus are lost.
    await window.page.locator('.quick-input-box input').first().fill('deadlock');
    await window.page.locator('.quick-input-list .monaco-list-row', { hasText: 'deadlock' }).first().click();
    const page = await window.panel('h1#deadlock');
    assert.ok((await page.locator('h2').count()) > 3);
    await window.shot('explain');
  });

  await check('the server is started again without a word in the log', async () => {
    await window.command('Fencepost: Restart the Server');
    await until('it is back', async () => (code.log().match(/server: /g) ?? []).length >= 3);
    assert.doesNotMatch(code.log(), /ERR_STREAM|write after end/);
  });

  await check('a run shows how far it is, and is stopped', async () => {
    await window.open('long.ttgir');
    await until('the lens', () => visible('.editor-group-container.active .codelens-decoration', 'Run on CPU'));
    const start = async () => {
      await window.page.locator('.editor-group-container.active .codelens-decoration a', { hasText: 'Run on CPU' }).first().click();
    };
    await start();
    await until('the question', () => visible('.monaco-dialog-box', 'Run long.ttgir'));
    await window.page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Run' }).first().click();
    const bar = window.page.locator('.notification-list-item', { hasText: 'Running long.ttgir' });
    await bar.first().waitFor();
    await window.shot('running');
    await bar.first().hover();
    await bar.locator('.monaco-button', { hasText: 'Cancel' }).first().click();
    await until('the end of the run', async () => (await bar.count()) === 0);
    // It is over: another one may begin, which is not asked about again.
    await window.command('Notifications: Clear All Notifications');
    await start();
    await bar.first().waitFor();
    await bar.locator('.monaco-button', { hasText: 'Cancel' }).first().click();
    await until('the end of the second run', async () => (await bar.count()) === 0);
    assert.equal(await window.page.locator('.notification-list-item-message', { hasText: 'is being run' }).count(), 0);
  });

  await window.page.close();
  await code.close();
  const missing = await Code.start({ ...found, server: '/nowhere/fencepost' }, { files });
  try {
    window = await missing.window();
    await check('a server that is not there is said once, and in words', async () => {
      await window.open('broken.ttgir');
      assert.deepEqual(await window.wordsOfStart('missing'), ['Fencepost cannot start: there is no program at /nowhere/fencepost']);
    });
  } finally {
    await missing.close();
  }

  await oldServers(found, files, check, (opened) => (window = opened));

  console.log(`test result: ok. ${passed} passed; 0 failed`);
} catch (error) {
  console.log(code.log());
  throw error;
} finally {
  await code.close();
}
