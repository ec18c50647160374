// Kernels run by the server: for the command palette, lenses, actions and the Test Explorer.

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Session } from './session';
import type { StatusBar } from './status';
import type { LspRange } from './target';
import type { Toast } from './toasts';

/** The server's commands that end in what a run came to. */
export const RUN_COMMANDS = ['fencepost.runKernel', 'fencepost.replayLog'];

export interface RunAnswer {
  state: 'passed' | 'asserted' | 'undecided' | 'hung' | 'failed' | 'refused' | 'cancelled';
  summary: string;
  /** What the analysis says of each kernel that ran. */
  details?: string[];
  diagnostics: { range: LspRange; severity: number; message: string; code: string; relatedInformation?: { location: { uri: string; range: LspRange }; message: string }[] }[];
  seconds: number;
  outdated: boolean;
}

/** What the server is told when it starts. */
export function runOptions(settings: vscode.WorkspaceConfiguration): { trusted: boolean; python: string | null } {
  return { trusted: vscode.workspace.isTrusted, python: settings.get<string | null>('python', null) };
}

/** Has a run made, and waits for what it comes to; the server shows how before it does. */
export function orderRun(client: LanguageClient, command: string, order: object, cancel?: vscode.CancellationToken): Promise<RunAnswer> {
  const params = { command, arguments: [{ ...order, wait: true }] };
  // The library takes an `undefined` for a parameter more.
  return cancel ? client.sendRequest<RunAnswer>('workspace/executeCommand', params, cancel) : client.sendRequest<RunAnswer>('workspace/executeCommand', params);
}

/** What is said in front of the window of a run; nothing of one that was stopped or not agreed to. */
export function toastOf(answer: RunAnswer): Toast | undefined {
  const { state, summary, details, diagnostics } = answer;
  if (state === 'cancelled') {
    return undefined;
  }
  const severity = state === 'passed' ? 'info' : state === 'failed' ? 'error' : 'warn';
  return { severity, message: summary, details, problems: diagnostics.length > 0 };
}

/** Runs the kernel at the cursor. */
export async function runKernel(session: Session, bar: StatusBar, backend: 'cpu' | 'gpu', instrument: 'consan' | 'gsan'): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage('Fencepost runs no kernel in a workspace that is not trusted.');
    return;
  }
  const client = session.need();
  if (!editor) {
    void vscode.window.showInformationMessage('Open a kernel to run it.');
  } else if (client) {
    const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
    const kernel = bar.kernelAt(editor.document, editor.selection.active)?.name;
    await session.run(client, 'fencepost.runKernel', { uri, kernel, backend, instrument });
  }
}

/** Asks for a saved log of a run, and for the server to mark in the active editor's document what it says. */
export async function replayLog(session: Session): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const client = session.need();
  if (!document) {
    void vscode.window.showInformationMessage('Open the kernel that the log is of.');
  } else if (client) {
    const [log] = (await vscode.window.showOpenDialog({ title: 'Log of a run', canSelectMany: false })) ?? [];
    if (log) {
      await session.run(client, 'fencepost.replayLog', { uri: client.code2ProtocolConverter.asUri(document.uri), log: log.fsPath });
    }
  }
}
