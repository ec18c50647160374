// The barrier report as a panel: the server's page, made anew when the kernel is edited.

import * as vscode from 'vscode';
import type { Session } from './session';
import { escapeHtml, mediaFolder, pageOf, type Fragment } from './page';
import { goTo, nameOf, showDocument, type KernelTarget } from './target';

export const REPORT_VIEW = 'fencepost.report';

interface Report extends Fragment {
  title: string;
  version: number;
}

/** All panels that are open, one a target. */
export class ReportPanels implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private readonly panels = new Map<string, vscode.WebviewPanel>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly session: Session,
    private readonly extensionPath: string,
  ) {
    this.subscriptions = [
      vscode.window.registerWebviewPanelSerializer(REPORT_VIEW, this),
      session.onStart((client) => {
        client.onNotification('fencepost/reportChanged', ({ uri }: { uri: string }) => this.refresh((target) => target.uri === uri));
        this.refresh(() => true);
      }),
    ];
  }

  /** Shows the report of a kernel, or of a file, beside it. */
  async show(target: KernelTarget): Promise<void> {
    const known = this.panels.get(JSON.stringify(target));
    if (known) {
      known.reveal(undefined, true);
      return;
    }
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const options = { enableScripts: true, localResourceRoots: [mediaFolder(this.extensionPath)], enableFindWidget: true };
    const panel = vscode.window.createWebviewPanel(REPORT_VIEW, titleOf(target), place, options);
    await this.adopt(panel, target);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: { known?: { target?: KernelTarget } } | undefined): Promise<void> {
    const target = state?.known?.target;
    if (!target) {
      panel.dispose();
      return;
    }
    panel.webview.options = { enableScripts: true, localResourceRoots: [mediaFolder(this.extensionPath)] };
    // The server knows documents that are open.
    await Promise.resolve(vscode.workspace.openTextDocument(vscode.Uri.parse(target.uri))).catch(() => undefined);
    await this.adopt(panel, target);
  }

  private async adopt(panel: vscode.WebviewPanel, target: KernelTarget): Promise<void> {
    const key = JSON.stringify(target);
    this.panels.set(key, panel);
    panel.onDidDispose(() => this.panels.delete(key));
    panel.webview.onDidReceiveMessage(async (message: { line?: number }) => {
      if (message.line !== undefined) {
        const editor = await showDocument(vscode.Uri.parse(target.uri), false);
        goTo(editor, editor.document.lineAt(Math.min(message.line, editor.document.lineCount) - 1).range);
      }
    });
    await this.fill(panel, target);
  }

  private refresh(concerns: (target: KernelTarget) => boolean): void {
    for (const [key, panel] of this.panels) {
      const target = JSON.parse(key) as KernelTarget;
      if (concerns(target)) {
        void this.fill(panel, target);
      }
    }
  }

  private async fill(panel: vscode.WebviewPanel, target: KernelTarget): Promise<void> {
    const media = mediaFolder(this.extensionPath);
    const said = (text: string) => `<p class="notice" role="status">${escapeHtml(text)}</p>`;
    const parts = { title: titleOf(target), script: 'report.js', state: { target } };
    const client = this.session.client;
    if (!client) {
      panel.webview.html ||= pageOf(panel.webview, media, { ...parts, body: said('Fencepost is starting.') });
      return;
    }
    let report: Report | null;
    try {
      report = await client.sendRequest<Report | null>('fencepost/reportHtml', target);
    } catch (error) {
      panel.webview.html = pageOf(panel.webview, media, { ...parts, body: said(`There is no report: ${error}`) });
      return;
    }
    if (report) {
      panel.webview.html = pageOf(panel.webview, media, { ...parts, body: '', fragment: report });
    } else {
      const closed = `${nameOf(target.uri)} is not open, so its report is not kept up to date. Open it to see its report.`;
      panel.webview.html = pageOf(panel.webview, media, { ...parts, body: said(closed) });
    }
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }
}

function titleOf(target: KernelTarget): string {
  return `Report: ${target.kernel ?? nameOf(target.uri)}`;
}
