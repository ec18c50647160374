// What the server says in front of the window. VS Code cuts a message off at the edge of its toast unless there are buttons
// below it, and does not keep it: all of it stands in the log as well.

import * as vscode from 'vscode';

/** So many characters fit into a toast without buttons, its icon and its buttons at the edge beside them. */
const FITS = 50;

type Severity = 'error' | 'warn' | 'info';

export interface Toast {
  severity: Severity;
  message: string;
  /** What the log says below the message. */
  details?: string[];
  /** Whether the Problems list has what it is about. */
  problems?: boolean;
}

/** Shows a message in full, with the ways to the rest of it. */
export async function showToast(log: vscode.LogOutputChannel, toast: Toast): Promise<void> {
  const { severity, details = [], problems = false } = toast;
  // The server says who it is to editors that do not: a toast names the extension.
  const message = toast.message.replace(/^fencepost: /, '');
  // It begins with the name of a file, or it is a sentence.
  const words = /^\S+\.\w+:/.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1);
  log[severity]([words, ...details].join('\n  '));
  const cut = words.length > FITS || details.length > 0;
  const buttons = [...(problems ? ['Show Problems'] : []), ...(cut ? ['Show Log'] : [])];
  const show = { error: vscode.window.showErrorMessage, warn: vscode.window.showWarningMessage, info: vscode.window.showInformationMessage }[severity];
  const chosen = await show(words, ...buttons);
  if (chosen === 'Show Problems') {
    await vscode.commands.executeCommand('workbench.actions.view.problems');
  } else if (chosen === 'Show Log') {
    log.show();
  }
}

/** The severity of a message, as the protocol numbers it. */
export function severityOf(type: number): Severity {
  return type === 1 ? 'error' : type === 2 ? 'warn' : 'info';
}
