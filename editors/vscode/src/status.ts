// How far the analysis of each kernel is (`fencepost/status`): an item in the status bar for the active editor,
// and on a click the kernels one by one.

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

export type KernelState = 'running' | 'proved' | 'clean' | 'found' | 'undecided' | 'stale';

export interface KernelStatus {
  name: string;
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  state: KernelState;
  findings: number;
  /** Findings that are hints. */
  hints: number;
}

/** What the server says of a document. */
export interface Status {
  uri: string;
  version: number;
  state: 'queued' | 'running' | 'done';
  kernels: KernelStatus[];
  /** Kernels of which findings of an earlier text are shown. */
  earlier: string[];
}

const ICONS: Record<KernelState, string> = {
  running: '$(sync~spin)',
  proved: '$(pass)',
  clean: '$(pass)',
  found: '$(error)',
  undecided: '$(question)',
  stale: '$(history)',
};

/** A count and a noun: `2 findings`. */
function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** What the item says; nothing where the document has no kernel. */
export function barText(status: Status): string | undefined {
  const of = (state: KernelState) => status.kernels.filter((kernel) => kernel.state === state).length;
  const findings = status.kernels.reduce((sum, kernel) => sum + kernel.findings, 0);
  const hints = status.kernels.reduce((sum, kernel) => sum + kernel.hints, 0);
  const found = findings > 0 ? [counted(findings, 'finding')] : of('found') > 0 && hints === 0 ? ['findings suppressed'] : [];
  if (status.state !== 'done') {
    const known = status.kernels.length - of('running');
    const parts = [status.state === 'queued' ? 'queued' : known > 0 ? `${counted(known, 'kernel')} so far` : 'analysing', ...found];
    return `$(sync~spin) ${parts.join(', ')}`;
  }
  if (status.kernels.length === 0) {
    return undefined;
  }
  const others = (['undecided', 'stale', 'proved', 'clean'] as const).filter((state) => of(state) > 0).map((state) => `${of(state)} ${state}`);
  const worst = (['found', 'undecided', 'stale', 'clean', 'proved'] as const).find((state) => of(state) > 0) ?? 'proved';
  const hinted = hints > 0 ? [counted(hints, 'hint')] : [];
  return `${ICONS[worst]} ${[...found, ...others, ...hinted].join(', ')}`;
}

/** A kernel in words. */
export function detail(kernel: KernelStatus): string {
  const findings = kernel.findings > 0 ? `, ${counted(kernel.findings, 'finding')}` : '';
  const hints = kernel.hints > 0 ? `, ${counted(kernel.hints, 'hint')}` : '';
  const hidden = kernel.state === 'found' && kernel.findings === 0 && kernel.hints === 0 ? ', all of them suppressed' : '';
  const early = kernel.state === 'running' && kernel.findings === 0 && kernel.hints === 0 ? ', first runs show nothing' : '';
  return `${kernel.state}${early}${findings}${hints}${hidden}`;
}

/** Shows what the server says; give it each client that is made. */
export class StatusBar implements vscode.Disposable {
  private readonly known = new Map<string, Status>();
  private readonly item = vscode.window.createStatusBarItem('fencepost.status', vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: vscode.Disposable[];
  private readonly changed = new vscode.EventEmitter<string>();
  /** Tells the name of a document of which there is something new to say. */
  readonly onChange = this.changed.event;

  constructor() {
    this.item.name = 'Fencepost';
    this.item.command = 'fencepost.showStatus';
    this.subscriptions = [
      this.item,
      this.changed,
      vscode.window.onDidChangeActiveTextEditor(() => this.show()),
      vscode.window.onDidChangeTextEditorSelection((change) => {
        if (change.textEditor === vscode.window.activeTextEditor) {
          this.show();
        }
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.known.delete(document.uri.toString());
        this.show();
        this.changed.fire(document.uri.toString());
      }),
    ];
  }

  follow(client: LanguageClient): void {
    this.known.clear();
    client.onNotification('fencepost/status', (status: Status) => {
      const name = client.protocol2CodeConverter.asUri(status.uri).toString();
      this.known.set(name, status);
      this.show();
      this.changed.fire(name);
    });
  }

  /** Nothing is said any more. */
  clear(): void {
    const all = [...this.known.keys()];
    this.known.clear();
    this.show();
    all.forEach((name) => this.changed.fire(name));
  }

  /** What is known of a document, by its name. */
  of(name: string): Status | undefined {
    return this.known.get(name);
  }

  /** The kernel that a position is in, or that comes before it. */
  kernelAt(document: vscode.TextDocument, position: vscode.Position): KernelStatus | undefined {
    const kernels = [...(this.known.get(document.uri.toString())?.kernels ?? [])];
    kernels.sort((a, b) => b.range.start.line - a.range.start.line);
    return kernels.find((kernel) => kernel.range.start.line <= position.line) ?? kernels.at(-1);
  }

  private active(): Status | undefined {
    const document = vscode.window.activeTextEditor?.document;
    return document && this.known.get(document.uri.toString());
  }

  private show(): void {
    const status = this.active();
    const text = status && barText(status);
    if (!status || !text) {
      this.item.hide();
      return;
    }
    const kernels = status.kernels.map((kernel) => `${kernel.name}: ${detail(kernel)}`);
    const earlier = status.earlier.map((name) => `${name}: of an earlier text`);
    const editor = vscode.window.activeTextEditor;
    const here = editor && status.kernels.length > 1 && this.kernelAt(editor.document, editor.selection.active);
    this.item.text = here ? `${text} · ${here.name}: ${detail(here)}` : text;
    this.item.accessibilityInformation = { label: `Fencepost: ${kernels.join('; ')}` };
    this.item.tooltip = ['Fencepost', ...kernels, ...earlier].join('\n');
    this.item.show();
  }

  /** Lists the kernels of the active editor; the one that is chosen is gone to. */
  async pick(): Promise<void> {
    const [status, editor] = [this.active(), vscode.window.activeTextEditor];
    if (!status || !editor) {
      void vscode.window.showInformationMessage('Fencepost says nothing of this editor.');
      return;
    }
    const items = status.kernels.map((kernel) => ({ label: `${ICONS[kernel.state]} ${kernel.name}`, description: detail(kernel), kernel }));
    const chosen = await vscode.window.showQuickPick(items, { title: 'Kernels of this file', placeHolder: 'Go to a kernel' });
    if (chosen) {
      const { start, end } = chosen.kernel.range;
      const range = new vscode.Range(start.line, start.character, end.line, end.character);
      editor.selection = new vscode.Selection(range.start, range.end);
      editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }
}
