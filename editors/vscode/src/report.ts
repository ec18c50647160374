// The barrier report of a kernel: a document of the server's (`fencepost-report:`), which the client
// library provides and refreshes while the kernel is edited.

import * as vscode from 'vscode';
import type { ClientCapabilities, DocumentSelector, InitializeParams, LanguageClient, StaticFeature } from 'vscode-languageclient/node';

const SCHEME = 'fencepost-report';
export const SHOW_REPORT = 'fencepost.showReport';
export const SHOW_TIMELINE = 'fencepost.showTimeline';

/** What a code lens hands over; the section counts from 1. */
export interface ReportTarget {
  uri: string;
  kernel?: string;
  section?: number;
}

/** Tells the server that its code lenses can be run, and that the status of kernels is shown. */
export class OwnFeatures implements StaticFeature {
  fillInitializeParams(_params: InitializeParams): void {}
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const commands = { commands: [SHOW_REPORT, SHOW_TIMELINE] };
    capabilities.experimental = { ...capabilities.experimental, commands, fencepostStatus: true };
  }
  initialize(_capabilities: unknown, _selector: DocumentSelector | undefined): void {}
  getState(): { kind: 'static' } {
    return { kind: 'static' };
  }
  clear(): void {}
}

/** The name of a report's document; the kernel's own document comes last and is quoted once. */
export function reportUri(target: ReportTarget): vscode.Uri {
  const parts = [`uri=${target.uri}`];
  if (target.kernel !== undefined) {
    parts.unshift(`kernel=${encodeURIComponent(target.kernel)}`);
  }
  if (target.section !== undefined) {
    parts.unshift(`section=${target.section}`);
  }
  const name = decodeURIComponent(target.uri.replace(/^.*\//, ''));
  return vscode.Uri.from({ scheme: SCHEME, path: `/${name}.report.txt`, query: parts.join('&') });
}

/** Shows the report of a kernel, or of the active editor's document, beside it. */
export async function showReport(client: LanguageClient | undefined, target?: ReportTarget): Promise<void> {
  if (!client) {
    void vscode.window.showWarningMessage('Fencepost is not running.');
    return;
  }
  const active = vscode.window.activeTextEditor?.document;
  if (!target && !active) {
    void vscode.window.showInformationMessage('Open a kernel to see its barrier report.');
    return;
  }
  const of = target ?? { uri: client.code2ProtocolConverter.asUri((active as vscode.TextDocument).uri) };
  const document = await vscode.workspace.openTextDocument(reportUri(of));
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: false, preserveFocus: true });
}
