// A run beside the code: its steps, what barriers count after each, and the swim lanes.

import * as vscode from 'vscode';
import { escapeHtml, mediaFolder, pageOf, prose } from './page';
import { saidOf, type ShownRun } from './stepped_run';

/** What a page of a run tells. */
export interface RunMessage {
  go?: number;
  again?: boolean;
  ready?: boolean;
  line?: number;
  step?: number;
}

/** The page of a run. */
export function runPage(webview: vscode.Webview, extensionPath: string, shown: ShownRun, step: number): string {
  const { run, target } = shown;
  const items = run.steps.map((it, at) => {
    const site = it.site && shown.sites > 1 ? ` <span class="site-number">${it.site}</span>` : '';
    const line = it.location.range.start.line + 1;
    const words = escapeHtml(it.text);
    return `<li><button type="button" data-at="${at}"><span>${line}</span><span class="who">${escapeHtml(it.partition)}</span><span>${words}${site}</span></button></li>`;
  });
  const steps = run.steps.map((it, at) => ({ number: it.number, barriers: it.barriers, said: saidOf(shown, at) }));
  const body = `<header class="run-head"><h1>${escapeHtml(shown.title)}</h1><p>${prose(shown.message)}</p></header>
<nav class="walk" aria-label="Steps of the run">
<p class="stale" id="stale" role="status" hidden>The text has changed since this run. <button type="button" id="again">Show its run now</button></p>
<button type="button" id="previous">◀ Previous</button><span class="count" id="count"></span><button type="button" id="next">Next ▶</button>
<span class="quiet">Arrow keys here, <kbd>Alt+PageDown</kbd> and <kbd>Alt+PageUp</kbd> in the code</span>
</nav>
<div class="now-box"><p id="now" role="status" aria-live="polite"></p></div>
<div class="beside">
<section aria-labelledby="steps-h"><h2 id="steps-h">Steps: line, partition, what happens</h2><ol class="steps-list">${items.join('')}</ol></section>
<section aria-labelledby="barriers-h"><h2 id="barriers-h">Barriers after the step</h2>
<table class="barriers"><thead><tr><th scope="col">barrier</th><th scope="col">counts</th><th scope="col" id="remarks">remark</th></tr></thead><tbody id="barriers"></tbody></table>
<p class="quiet" id="no-barriers" hidden>None is initialised by then.</p></section>
</div>
<div class="picture-box"><h2>Swim lanes: the whole run, time goes down</h2>
${run.picture ? '' : '<p class="quiet">This finding holds wherever its line is executed, so there is no run to draw.</p>'}`;
  return pageOf(webview, mediaFolder(extensionPath), {
    title: shown.title,
    body,
    fragment: run.picture ? { ...run.picture, html: `${run.picture.html}</div>` } : undefined,
    script: 'run.js',
    state: { target, step, steps },
  });
}
