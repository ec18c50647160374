// Pages of kinds of findings (`fencepost:/explain/KIND.md`, the link of a diagnostic's code), shown as they are meant to
// look.

import * as vscode from 'vscode';
import type { Session } from './session';

export const SCHEME = 'fencepost';

/** Serves pages, and has a page that is opened as text shown as a page. */
export function registerPages(session: Session): vscode.Disposable {
  const provider: vscode.TextDocumentContentProvider = {
    async provideTextDocumentContent(uri) {
      const kind = /^\/explain\/(.+)\.md$/.exec(uri.path)?.[1];
      const client = kind && (await session.started());
      const page = client && (await client.sendRequest<string | null>('fencepost/explain', { kind }));
      return page || `There is no page ${uri.path}.`;
    },
  };
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    vscode.window.onDidChangeActiveTextEditor((editor) => {
      if (editor?.document.uri.scheme === SCHEME && editor.document.uri.path.startsWith('/explain/')) {
        void render(editor);
      }
    }),
  );
}

/** Shows the page of a kind. */
export async function showPage(kind: string): Promise<void> {
  await vscode.commands.executeCommand('markdown.showPreviewToSide', vscode.Uri.from({ scheme: SCHEME, path: `/explain/${kind}.md` }));
}

/** Asks which of these kinds, and shows its page; that of the finding at the cursor stands first. */
export async function pickPage(kinds: string[], argument: unknown): Promise<void> {
  if (typeof argument === 'string') {
    await showPage(argument);
    return;
  }
  const here = kindsHere();
  const rest = kinds.filter((kind) => !here.includes(kind));
  const chosen = await vscode.window.showQuickPick([...here, ...rest], { title: 'Explain a kind of finding' });
  if (chosen) {
    await showPage(chosen);
  }
}

/** The kinds of findings at the cursor. */
function kindsHere(): string[] {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return [];
  }
  const all = vscode.languages.getDiagnostics(editor.document.uri);
  const here = all.filter((it) => it.source === 'fencepost' && it.range.contains(editor.selection.active));
  const codes = here.map((it) => (typeof it.code === 'object' ? String(it.code.value) : String(it.code ?? '')));
  return [...new Set(codes.filter((code) => code !== ''))];
}

/** A link opens a document as text: its preview takes its place. */
async function render(editor: vscode.TextEditor): Promise<void> {
  const { uri } = editor.document;
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const own = tabs.filter((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString());
  await vscode.commands.executeCommand('markdown.showPreview', uri);
  await vscode.window.tabGroups.close(own, true);
}
