// Questions of the server stand in front of the window until they are answered: a toast hides in the bell, and what it
// asks about goes on waiting.

import * as vscode from 'vscode';

interface Question {
  message: string;
  actions?: { title: string }[] | null;
}

/** The answer to a question; nothing where it is put away. */
export async function askInFront(question: Question): Promise<{ title: string } | null> {
  const [first, ...rest] = question.message.split('\n');
  // A modal question brings its own way out.
  const items = (question.actions ?? []).filter((action) => action.title !== 'Cancel');
  const answer = await vscode.window.showInformationMessage(first ?? '', { modal: true, detail: rest.join('\n') }, ...items.map((it) => it.title));
  return items.find((item) => item.title === answer) ?? null;
}
