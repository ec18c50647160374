// A run as the server tells it, step by step.

import type { LanguageClient } from 'vscode-languageclient/node';
import type { Fragment } from './page';
import type { KernelTarget, LspPosition, LspRange } from './target';

export interface BarrierState {
  name: string;
  concerned: boolean;
  changed: boolean;
  words: string;
}

export interface RunStep {
  partition: string;
  location: { uri: string; range: LspRange };
  text: string;
  number: number | null;
  site: number | null;
  stuck: boolean;
  barriers: BarrierState[];
}

export interface SteppedRun {
  version: number;
  kernel: string;
  steps: RunStep[];
  picture: Fragment | null;
}

/** Which run: that of the finding at a place, or that of a kernel. */
export interface RunTarget extends KernelTarget {
  position?: LspPosition;
  kind?: string;
}

/** A run that is shown. */
export interface ShownRun {
  target: RunTarget;
  title: string;
  message: string;
  sites: number;
  run: SteppedRun;
}

/** Asks for a run; nothing where there is none. */
export async function askRun(client: LanguageClient, target: RunTarget): Promise<ShownRun | undefined> {
  const sites = (run: SteppedRun) => Math.max(0, ...run.steps.map((step) => step.site ?? 0));
  if (target.position) {
    type Answer = SteppedRun & { kind: string; message: string; range: LspRange };
    const { uri, position, kind } = target;
    const params = { textDocument: { uri }, position, kind, nearest: !kind, picture: true };
    const run = await client.sendRequest<Answer | null>('fencepost/run', params);
    // From now on it is known by the finding's own place.
    return run ? { target: { uri, position: run.range.start, kind: run.kind }, title: run.kind, message: run.message, sites: sites(run), run } : undefined;
  }
  type Answer = SteppedRun & { title: string; message: string };
  const run = await client.sendRequest<Answer | null>('fencepost/timeline', { ...target, picture: true });
  return run ? { target, title: run.title, message: run.message, sites: sites(run), run } : undefined;
}

/** Characters above a line, which do not wrap: they fit beside a panel and the Explorer. */
const ABOVE = 56;

/** A step in the words that fit above its line, which names the op: `3/15 partition0 (2): reads a[0] …`. */
export function saidAbove(shown: ShownRun, at: number): string {
  const step = shown.run.steps[at];
  if (!step) {
    return '';
  }
  const who = `${at + 1}/${shown.run.steps.length} ${step.partition}${siteOf(shown, step)}: `;
  return who + firstOf(step.text.replace(/^[\w.]+: /, ''), ABOVE - who.length);
}

/** The first of what a step does, in so many characters if it can be. */
function firstOf(text: string, room: number): string {
  if (text.length <= room) {
    return text;
  }
  const end = Math.max(text.lastIndexOf('; ', room - 3), text.lastIndexOf(': ', room - 3));
  // What is done first is said whole.
  const first = end > 0 ? end : text.search(/[;:] |$/);
  return first < text.length ? `${text.slice(0, first)} …` : text;
}

/** Which of the places of the finding it is, where it has several. */
function siteOf(shown: ShownRun, step: RunStep): string {
  return step.site && shown.sites > 1 ? ` (${step.site})` : '';
}

/** A step in words: `Step 3 of 15, partition0, line 41 (2): waits for bar. bar[0]: phase 1, …`. */
export function saidOf(shown: ShownRun, at: number): string {
  const step = shown.run.steps[at];
  if (!step) {
    return '';
  }
  const line = step.location.range.start.line + 1;
  return `Step ${at + 1} of ${shown.run.steps.length}, ${step.partition}, line ${line}${siteOf(shown, step)}: ${step.text}.${countsOf(step)}`;
}

/** What the barriers count that a step is about, in few words. */
function countsOf(step: RunStep): string {
  const told = step.barriers.filter((it) => it.changed || it.concerned).slice(0, 3);
  return told.map((it) => ` ${it.name}: ${it.words}.`).join('');
}
