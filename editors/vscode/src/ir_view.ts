// A kernel in Python beside the ops that it is analysed as (`fencepost/ir`), and what belongs to the cursor marked on both
// sides. The ops are a document of a language of its own, so that no server takes them for what a compiler made.

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Session } from './session';
import type { StatusBar } from './status';
import { wholeLines, type KernelTarget, type LspPosition, type LspRange } from './target';

export const IR_SCHEME = 'fencepost-ir';
export const IR_LANGUAGE = 'ttgir-elaborated';

interface ElaboratedIr {
  version: number;
  kernel: string;
  instance: number;
  instances: string[];
  text: string;
  links: { line: number; range: LspRange; source?: string }[];
}

interface Shown {
  /** The Python, as VS Code and as the protocol spell it. */
  source: string;
  uri: string;
  kernel: string;
  instance: number;
  ir?: ElaboratedIr;
}

/** Lines and ranges that belong together. */
function together(ir: ElaboratedIr, side: 'ir' | 'python', line: number): { lines: number[]; ranges: LspRange[] } {
  const here = ir.links.filter((link) => (side === 'ir' ? link.line === line : link.range.start.line <= line && line <= link.range.end.line));
  return { lines: here.map((link) => link.line), ranges: here.map((link) => link.range) };
}

/** All kernels that are shown as their ops, by the name of their document. */
export class IrViews implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly shown = new Map<string, Shown>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'),
    borderWidth: '0 0 0 3px',
    borderStyle: 'solid',
    borderColor: new vscode.ThemeColor('editorInfo.foreground'),
  });
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly session: Session,
    status: StatusBar,
  ) {
    this.subscriptions = [
      this.mark,
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(IR_SCHEME, this),
      // The server has come to the end of a text: there are new ops of it.
      status.onChange((name) => this.refresh(name)),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
      vscode.window.onDidChangeTextEditorSelection((change) => {
        if (change.textEditor === vscode.window.activeTextEditor) {
          this.follow(change.textEditor);
        }
      }),
      vscode.workspace.onDidChangeTextDocument((change) => {
        if (change.contentChanges.length > 0) {
          this.draw(change.document);
        }
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (this.shown.delete(document.uri.toString())) {
          vscode.window.visibleTextEditors.forEach((editor) => editor.setDecorations(this.mark, []));
        }
      }),
    ];
  }

  /** Shows the ops of a kernel beside it; of several instances the one that is chosen, where somebody is asked. */
  async show(target: KernelTarget & { position?: LspPosition }, choose: boolean): Promise<void> {
    const client = this.session.need();
    const found = client && (await this.ask(client, target.uri, { kernel: target.kernel, position: target.position }));
    if (!client || !found) {
      if (client) {
        void vscode.window.showInformationMessage('Fencepost: there is no kernel in Python here. TTGIR is the ops itself.');
      }
      return;
    }
    let { instance } = found;
    if (choose && found.instances.length > 1) {
      const items = found.instances.map((label, at) => ({ label: label || `#${at + 1}`, at }));
      const chosen = await vscode.window.showQuickPick(items, { title: `Instances of ${found.kernel}` });
      if (!chosen) {
        return;
      }
      instance = chosen.at;
    }
    const source = client.protocol2CodeConverter.asUri(target.uri);
    const query = new URLSearchParams({ uri: target.uri, kernel: found.kernel, instance: String(instance) }).toString();
    const uri = vscode.Uri.from({ scheme: IR_SCHEME, path: `/${found.kernel}${instance > 0 ? `-${instance + 1}` : ''}.ttgir`, query });
    this.shown.set(uri.toString(), { source: source.toString(), uri: target.uri, kernel: found.kernel, instance });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, IR_LANGUAGE);
    // To set the language closes and opens it.
    this.shown.set(uri.toString(), { source: source.toString(), uri: target.uri, kernel: found.kernel, instance, ir: this.shown.get(uri.toString())?.ir });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false });
    this.changed.fire(uri);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const name = uri.toString();
    const asked = new URLSearchParams(uri.query);
    const source = asked.get('uri') ?? '';
    const kernel = asked.get('kernel') ?? '';
    const instance = Number(asked.get('instance') ?? 0);
    const client = await this.session.started();
    // After a reload of the window the Python may not be open yet, and the server knows what is open.
    await Promise.resolve(vscode.workspace.openTextDocument(vscode.Uri.parse(source))).catch(() => undefined);
    const ir = client && (await this.ask(client, source, { kernel, instance }));
    const own = this.shown.get(name) ?? { source: vscode.Uri.parse(source).toString(), uri: source, kernel, instance };
    this.shown.set(name, { ...own, ir: ir ?? undefined });
    // Marks are drawn once the document has the text.
    setTimeout(() => this.follow(vscode.window.activeTextEditor), 100);
    return ir?.text ?? '// The kernel is gone from the file, or does not parse.\n';
  }

  private async ask(client: LanguageClient, uri: string, what: object): Promise<ElaboratedIr | null> {
    return client.sendRequest<ElaboratedIr | null>('fencepost/ir', { textDocument: { uri }, ...what }).catch(() => null);
  }

  private refresh(source: string): void {
    for (const [name, shown] of this.shown) {
      const document = vscode.workspace.textDocuments.find((it) => it.uri.toString() === source);
      if (shown.source === source && document && shown.ir?.version !== document.version) {
        this.changed.fire(vscode.Uri.parse(name));
      }
    }
  }

  /** Marks what belongs to the cursor of an editor, in it and on the other side. */
  private follow(editor: vscode.TextEditor | undefined): void {
    if (!editor) {
      return;
    }
    const name = editor.document.uri.toString();
    for (const [irName, shown] of this.shown) {
      if (name === irName || name === shown.source) {
        this.markBoth(irName, shown, name === irName ? 'ir' : 'python', editor.selection.active.line);
      }
    }
  }

  /** What was said of another text is not shown in this one. */
  private draw(document: vscode.TextDocument): void {
    const name = document.uri.toString();
    for (const [irName, shown] of this.shown) {
      if (shown.source === name && shown.ir?.version !== document.version) {
        const both = [irName, name];
        const editors = vscode.window.visibleTextEditors.filter((it) => both.includes(it.document.uri.toString()));
        editors.forEach((editor) => editor.setDecorations(this.mark, []));
      }
    }
  }

  private markBoth(irName: string, shown: Shown, side: 'ir' | 'python', line: number): void {
    const source = vscode.workspace.textDocuments.find((it) => it.uri.toString() === shown.source);
    if (!shown.ir || !source || shown.ir.version !== source.version) {
      return;
    }
    const { lines, ranges } = together(shown.ir, side, line);
    for (const editor of vscode.window.visibleTextEditors) {
      const name = editor.document.uri.toString();
      if (name !== irName && name !== shown.source) {
        continue;
      }
      const own = name === irName ? lines.map((at) => new vscode.Range(at, 0, at, 0)) : wholeLines(ranges);
      editor.setDecorations(this.mark, own);
      const other = (name === irName) !== (side === 'ir');
      if (other && own[0]) {
        editor.revealRange(own[0], vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      }
    }
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }
}
