// Virtual documents: the page of a kind (`fencepost:/explain/KIND.md`, the link of a diagnostic's
// code), the run of a finding (`fencepost:/run/N.txt`) and that of a kernel (`fencepost:/timeline/N.txt`).

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { ReportTarget } from './report';

const SCHEME = 'fencepost';

interface Run {
  kind: string;
  message: string;
  text: string;
}

/** Runs that are shown, by the path of their document. */
const runs = new Map<string, string>();
let count = 0;

export function registerDocuments(client: () => LanguageClient | undefined): vscode.Disposable {
  const provider: vscode.TextDocumentContentProvider = {
    async provideTextDocumentContent(uri) {
      const shown = runs.get(uri.path);
      if (shown !== undefined) {
        return shown;
      }
      const kind = /^\/explain\/(.+)\.md$/.exec(uri.path)?.[1];
      const page = kind && (await client()?.sendRequest<string | null>('fencepost/explain', { kind }));
      return page || `There is no page ${uri.path}; the server may have been restarted.`;
    },
  };
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (document.uri.scheme === SCHEME) {
        runs.delete(document.uri.path);
      }
    }),
  );
}

/** Shows the run that leads to the finding under the cursor, beside the editor. */
export async function showRun(client: LanguageClient | undefined, editor: vscode.TextEditor): Promise<void> {
  if (!client) {
    void vscode.window.showWarningMessage('Fencepost is not running.');
    return;
  }
  const run = await client.sendRequest<Run | null>('fencepost/run', {
    textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document),
    position: client.code2ProtocolConverter.asPosition(editor.selection.active),
  });
  if (!run) {
    void vscode.window.showInformationMessage('Fencepost has no finding here.');
    return;
  }
  count += 1;
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/run/${count}.txt` });
  runs.set(uri.path, `${run.kind}\n${run.message}\n\n${run.text}`);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true, preserveFocus: true });
}

/** Shows the run of a kernel's first finding, or one in which nothing is wrong, beside the editor. */
export async function showTimeline(client: LanguageClient | undefined, target?: ReportTarget): Promise<void> {
  if (!client) {
    void vscode.window.showWarningMessage('Fencepost is not running.');
    return;
  }
  const timeline = target && (await client.sendRequest<{ text: string } | null>('fencepost/timeline', target));
  if (!timeline) {
    void vscode.window.showInformationMessage('Fencepost has no run of this kernel.');
    return;
  }
  count += 1;
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/timeline/${count}.txt` });
  runs.set(uri.path, timeline.text);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true, preserveFocus: true });
}
