// Marks in front of the name of each kernel: a shape for each verdict, and a colour besides. In the gutter of that line
// stands what the Test Explorer runs it with, which VS Code draws over all that extensions put there.

import * as vscode from 'vscode';
import type { KernelState, StatusBar } from './status';
import { toRange } from './target';

/** What is drawn, in a box of 16 by 16; states that look alike mean alike. */
const SHAPES: Record<KernelState, { draw: string; light: string; dark: string; says: string }> = {
  proved: { draw: '<path d="M3 8.5 6.5 12 13 4.5" fill="none" stroke-width="2.2"/>', light: '#116329', dark: '#56d364', says: 'proved' },
  clean: { draw: '<path d="M3 8.5 6.5 12 13 4.5" fill="none" stroke-width="2.2" stroke-dasharray="2.5 1.6"/>', light: '#116329', dark: '#56d364', says: 'clean in the runs that were made' },
  found: { draw: '<path d="M4 4l8 8M12 4l-8 8" fill="none" stroke-width="2.4"/>', light: '#b3121d', dark: '#ff8a80', says: 'has findings' },
  undecided: { draw: '<path d="M5 5.5a3 3 0 1 1 4.2 2.7q-1.2.6-1.2 2" fill="none" stroke-width="2"/><circle cx="8" cy="13" r=".6" stroke-width="1.4"/>', light: '#7d4e00', dark: '#e3b341', says: 'undecided' },
  stale: { draw: '<circle cx="8" cy="8" r="5.2" fill="none" stroke-width="1.8" stroke-dasharray="3 2"/><path d="M8 5v3l2 1.5" fill="none" stroke-width="1.6"/>', light: '#59636e', dark: '#9da7b3', says: 'does not parse or would be refused: what is said is of an earlier text' },
  running: { draw: '<circle cx="4" cy="8" r="1.3"/><circle cx="8" cy="8" r="1.3"/><circle cx="12" cy="8" r="1.3"/>', light: '#59636e', dark: '#9da7b3', says: 'being analysed' },
};

function icon(draw: string, colour: string): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="12" height="12" viewBox="0 0 16 16" stroke="${colour}" fill="${colour}" stroke-linecap="round" stroke-linejoin="round">${draw}</svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}

/** Keeps the marks of all visible editors. */
export class Marks implements vscode.Disposable {
  private readonly types = new Map<KernelState, vscode.TextEditorDecorationType>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly status: StatusBar) {
    for (const [state, { draw, light, dark }] of Object.entries(SHAPES)) {
      const type = vscode.window.createTextEditorDecorationType({
        light: { before: { contentIconPath: icon(draw, light) } },
        dark: { before: { contentIconPath: icon(draw, dark) } },
        before: { margin: '0 0.3em 0 0' },
      });
      this.types.set(state as KernelState, type);
    }
    this.subscriptions = [
      status.onChange((name) => this.draw((editor) => editor.document.uri.toString() === name)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw(() => true)),
      vscode.workspace.onDidChangeTextDocument((change) => {
        if (change.contentChanges.length > 0) {
          this.draw((editor) => editor.document === change.document);
        }
      }),
    ];
    this.draw(() => true);
  }

  private draw(concerns: (editor: vscode.TextEditor) => boolean): void {
    for (const editor of vscode.window.visibleTextEditors.filter(concerns)) {
      const status = this.status.of(editor.document.uri.toString());
      const old = status !== undefined && status.version !== editor.document.version;
      for (const [state, type] of this.types) {
        // What was said of another text is not said of this one.
        const own = (status?.kernels ?? []).filter((kernel) => (old ? 'running' : kernel.state) === state);
        const hoverMessage = (name: string) => `Fencepost: \`${name}\` ${SHAPES[state].says}`;
        editor.setDecorations(type, own.map((kernel) => ({ range: toRange(kernel.range), hoverMessage: hoverMessage(kernel.name) })));
      }
    }
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
    this.types.forEach((type) => type.dispose());
  }
}
