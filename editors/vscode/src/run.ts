// Kernels run by the server, for the command palette; lenses and actions call the server's command themselves.

import * as vscode from 'vscode';
import type { Session } from './session';

/** What the server is told when it starts. */
export function runOptions(settings: vscode.WorkspaceConfiguration): { trusted: boolean; python: string | null } {
  return { trusted: vscode.workspace.isTrusted, python: settings.get<string | null>('python', null) };
}

/** Asks the server to run the kernels of the active editor's document; it shows how before it does. */
export async function runKernel(session: Session, backend: 'cpu' | 'gpu', instrument: 'consan' | 'gsan'): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage('Fencepost runs no kernel in a workspace that is not trusted.');
    return;
  }
  const client = session.need();
  if (!document) {
    void vscode.window.showInformationMessage('Open a kernel to run it.');
  } else if (client) {
    const uri = client.code2ProtocolConverter.asUri(document.uri);
    const order = { uri, backend, instrument };
    await client.sendRequest('workspace/executeCommand', { command: 'fencepost.runKernel', arguments: [order] });
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
      const order = { uri: client.code2ProtocolConverter.asUri(document.uri), log: log.fsPath };
      await client.sendRequest('workspace/executeCommand', { command: 'fencepost.replayLog', arguments: [order] });
    }
  }
}
