// What panels and lenses are about: a kernel of a document, or a place in one.

import * as vscode from 'vscode';

/** What a code lens hands over; the section counts from 1. */
export interface KernelTarget {
  uri: string;
  kernel?: string;
  section?: number;
}

export interface LspPosition {
  line: number;
  character: number;
}

export interface LspRange {
  start: LspPosition;
  end: LspPosition;
}

export function toPosition(at: LspPosition): vscode.Position {
  return new vscode.Position(at.line, at.character);
}

export function toRange(range: LspRange): vscode.Range {
  return new vscode.Range(toPosition(range.start), toPosition(range.end));
}

/** The lines that ranges touch, each once: a line that is painted twice is darker than its words. */
export function wholeLines(ranges: readonly LspRange[]): vscode.Range[] {
  const lines = ranges.flatMap(({ start, end }) => Array.from({ length: end.line - start.line + 1 }, (_, at) => start.line + at));
  return [...new Set(lines)].map((line) => new vscode.Range(line, 0, line, 0));
}

/** The kernel that an argument of a command names. */
export function asTarget(argument: unknown): KernelTarget | undefined {
  return typeof (argument as KernelTarget | undefined)?.uri === 'string' ? (argument as KernelTarget) : undefined;
}

/** The last part of a document's name. */
export function nameOf(uri: string): string {
  return decodeURIComponent(uri.replace(/^.*\//, ''));
}

/** Shows a document in the editor that has it already, else in the first group; the panel keeps its place. */
export async function showDocument(uri: vscode.Uri, preserveFocus: boolean): Promise<vscode.TextEditor> {
  const visible = vscode.window.visibleTextEditors.find((it) => it.document.uri.toString() === uri.toString());
  const document = visible?.document ?? (await vscode.workspace.openTextDocument(uri));
  return vscode.window.showTextDocument(document, {
    viewColumn: visible?.viewColumn ?? vscode.ViewColumn.One,
    preserveFocus,
    preview: false,
  });
}

/** Moves the cursor to a range and shows its beginning: to show all of a long line would move it out of sight. */
export function goTo(editor: vscode.TextEditor, range: vscode.Range): void {
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
