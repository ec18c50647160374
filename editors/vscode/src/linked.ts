// The program and its IR side by side: what belongs to the cursor on the one side is marked on the other
// (`fencepost/linkedRanges`).

import * as vscode from 'vscode';
import type { Session } from './session';
import { wholeLines, type LspPosition, type LspRange } from './target';

interface Linked {
  ranges: LspRange[];
  linked: { uri: string; ranges: LspRange[] }[];
}

/** Marks what belongs together, from when the two are shown side by side until one of them is closed. */
export class LinkedViews implements vscode.Disposable {
  private shown = new Set<string>();
  private asked = 0;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'),
    borderWidth: '0 0 0 3px',
    borderStyle: 'solid',
    borderColor: new vscode.ThemeColor('editorInfo.foreground'),
  });
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly session: Session) {
    this.subscriptions = [
      this.mark,
      vscode.window.onDidChangeTextEditorSelection((change) => {
        if (change.textEditor === vscode.window.activeTextEditor && this.shown.has(change.textEditor.document.uri.toString())) {
          void this.follow(change.textEditor);
        }
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (this.shown.delete(document.uri.toString())) {
          this.shown.clear();
          vscode.window.visibleTextEditors.forEach((editor) => editor.setDecorations(this.mark, []));
        }
      }),
    ];
  }

  /** The same for the kernel whose lens was clicked: the cursor goes to its name. */
  async showAt(argument: unknown): Promise<void> {
    const place = argument as { uri?: string; position?: LspPosition } | undefined;
    if (!place?.uri || !place.position) {
      return;
    }
    const { line, character } = place.position;
    const at = new vscode.Range(line, character, line, character);
    await this.show(await vscode.window.showTextDocument(vscode.Uri.parse(place.uri), { selection: at }));
  }

  /** Opens what the line at the cursor comes from, or was compiled to, beside it. */
  async show(editor: vscode.TextEditor): Promise<void> {
    if (!this.session.need()) {
      return;
    }
    const other = (await this.ask(editor))?.linked[0];
    if (!other) {
      const compiled = editor.document.languageId === 'python';
      const why = compiled ? 'no TTGIR that is open, or stands beside this file, was compiled from this line' : 'this op names no line of a program that is here';
      void vscode.window.showInformationMessage(`Fencepost: ${why}.`);
      return;
    }
    const uri = vscode.Uri.parse(other.uri);
    this.shown = new Set([editor.document.uri.toString(), uri.toString()]);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false });
    await this.follow(editor);
  }

  private ask(editor: vscode.TextEditor): Promise<Linked | null | undefined> {
    const client = this.session.client;
    const params = client?.code2ProtocolConverter.asTextDocumentPositionParams(editor.document, editor.selection.active);
    return client ? client.sendRequest<Linked | null>('fencepost/linkedRanges', params) : Promise.resolve(undefined);
  }

  private async follow(from: vscode.TextEditor): Promise<void> {
    this.asked += 1;
    const number = this.asked;
    const found = await this.ask(from).catch(() => undefined);
    // An older answer is of another line.
    if (number !== this.asked) {
      return;
    }
    for (const editor of vscode.window.visibleTextEditors) {
      const name = editor.document.uri.toString();
      const linked = found?.linked.find((it) => vscode.Uri.parse(it.uri).toString() === name);
      const ranges = wholeLines(editor === from ? (found?.ranges ?? []) : (linked?.ranges ?? []));
      if (!this.shown.has(name)) {
        continue;
      }
      editor.setDecorations(this.mark, ranges);
      const [first] = ranges;
      if (editor !== from && first) {
        editor.revealRange(first, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      }
    }
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }
}
