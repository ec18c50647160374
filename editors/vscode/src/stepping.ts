// Going through a run in the code: the cursor, the line in colour and words, and the panel beside.

import * as vscode from 'vscode';
import { runPage, type RunMessage } from './run_panel';
import { mediaFolder } from './page';
import { SELECTOR, type Session } from './session';
import { askRun, saidAbove, saidOf, type RunTarget, type ShownRun } from './stepped_run';
import { goTo, showDocument, toRange } from './target';

export const RUN_VIEW = 'fencepost.run';
const CONTEXT = 'fencepost.stepping';

/** One run at a time is gone through. */
export class Stepping implements vscode.Disposable, vscode.WebviewPanelSerializer, vscode.CodeLensProvider {
  private shown: ShownRun | undefined;
  private panel: vscode.WebviewPanel | undefined;
  readonly onDidChangeCodeLenses: vscode.Event<void>;
  private step = 0;
  private stale = false;
  private readonly here = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.stackFrameHighlightBackground'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.warningForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
  private readonly lensesChanged = new vscode.EventEmitter<void>();
  private readonly bar = vscode.window.createStatusBarItem('fencepost.step', vscode.StatusBarAlignment.Right, 91);
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly session: Session,
    private readonly extensionPath: string,
  ) {
    this.onDidChangeCodeLenses = this.lensesChanged.event;
    this.bar.name = 'Fencepost: the step of a run';
    this.bar.command = 'fencepost.revealRun';
    this.subscriptions = [
      this.here,
      this.bar,
      this.lensesChanged,
      vscode.languages.registerCodeLensProvider(SELECTOR, this),
      vscode.window.registerWebviewPanelSerializer(RUN_VIEW, this),
      vscode.workspace.onDidChangeTextDocument((change) => {
        if (change.contentChanges.length > 0 && this.isOf(change.document)) {
          this.growOld();
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.decorate()),
    ];
  }

  /** Shows a run beside the code and stands at its first step. */
  async show(target: RunTarget): Promise<boolean> {
    const client = this.session.client;
    const shown = client && (await askRun(client, target));
    if (!shown || shown.run.steps.length === 0) {
      return false;
    }
    if (!this.panel) {
      const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      this.adopt(vscode.window.createWebviewPanel(RUN_VIEW, 'Run', place, this.options()));
    }
    this.take(shown, 0);
    this.panel?.reveal(undefined, true);
    await this.go(0);
    return true;
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: { known?: { target?: RunTarget; step?: number }; step?: number } | undefined): Promise<void> {
    const target = state?.known?.target;
    const open = target && (await Promise.resolve(vscode.workspace.openTextDocument(vscode.Uri.parse(target.uri))).catch(() => undefined));
    const client = open && (await this.session.started());
    const shown = client && target && (await askRun(client, target).catch(() => undefined));
    if (!shown) {
      // What was shown may be no more: nothing is better than something old.
      panel.dispose();
      return;
    }
    panel.webview.options = this.options();
    this.adopt(panel);
    const step = Math.min(state?.known?.step ?? 0, shown.run.steps.length - 1);
    this.take(shown, step);
    this.stand();
  }

  /** Goes on by so many steps. */
  async move(by: number): Promise<void> {
    if (!this.shown) {
      void vscode.window.showInformationMessage('Fencepost: show the run of a finding first.');
      return;
    }
    if (this.stale) {
      void vscode.window.showWarningMessage('Fencepost: the text has changed since this run; show the run again.');
      return;
    }
    await this.go(Math.max(0, Math.min(this.shown.run.steps.length - 1, this.step + by)));
  }

  reveal(): void {
    this.panel?.reveal(undefined, false);
  }

  end(): void {
    this.panel?.dispose();
  }

  private options(): vscode.WebviewOptions & vscode.WebviewPanelOptions {
    return { enableScripts: true, localResourceRoots: [mediaFolder(this.extensionPath)], enableFindWidget: true };
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panel?.dispose();
    this.panel = panel;
    panel.onDidDispose(() => {
      if (this.panel === panel) {
        this.panel = undefined;
        this.shown = undefined;
        this.stand();
      }
    });
    panel.webview.onDidReceiveMessage((message: RunMessage) => this.hear(message));
  }

  private async hear(message: RunMessage): Promise<void> {
    const shown = this.shown;
    if (!shown) {
      return;
    }
    if (message.ready) {
      void this.panel?.webview.postMessage({ step: this.step, stale: this.stale });
    } else if (message.again) {
      if (!(await this.show(shown.target))) {
        void vscode.window.showInformationMessage('Fencepost: that finding is gone from the text as it is.');
        this.end();
      }
    } else if (message.go !== undefined && !this.stale) {
      await this.go(message.go);
    } else if (message.line !== undefined) {
      const at = shown.run.steps.findIndex((step) => step.number === message.step);
      if (at >= 0 && !this.stale) {
        await this.go(at);
        return;
      }
      const editor = await showDocument(vscode.Uri.parse(shown.target.uri), false);
      goTo(editor, editor.document.lineAt(Math.min(message.line, editor.document.lineCount) - 1).range);
    }
  }

  private take(shown: ShownRun, step: number): void {
    this.shown = shown;
    this.step = step;
    this.stale = false;
    if (this.panel) {
      this.panel.title = `Run: ${shown.title}`;
      this.panel.webview.html = runPage(this.panel.webview, this.extensionPath, shown, step);
    }
  }

  private async go(step: number): Promise<void> {
    const at = this.shown?.run.steps[step];
    if (!at) {
      return;
    }
    this.step = step;
    // Whoever goes on stays where they are: in the code or in the panel.
    const editor = await showDocument(vscode.Uri.parse(at.location.uri), true);
    goTo(editor, toRange(at.location.range));
    this.stand();
    void this.panel?.webview.postMessage({ step });
  }

  /** The text is another one: what is shown is not of it. */
  private growOld(): void {
    this.stale = true;
    this.stand();
    void this.panel?.webview.postMessage({ stale: true });
  }

  private isOf(document: vscode.TextDocument): boolean {
    return this.shown?.target.uri === this.session.client?.code2ProtocolConverter.asUri(document.uri);
  }

  private stand(): void {
    const { shown } = this;
    void vscode.commands.executeCommand('setContext', CONTEXT, shown !== undefined);
    this.decorate();
    if (!shown) {
      this.bar.hide();
      return;
    }
    const said = this.stale ? 'The text has changed since this run' : saidOf(shown, this.step);
    this.bar.text = this.stale ? '$(history) run of an earlier text' : `$(debug-step-over) step ${this.step + 1} of ${shown.run.steps.length}`;
    this.bar.tooltip = said;
    this.bar.accessibilityInformation = { label: said };
    this.bar.show();
  }

  /** The step in words above its line: behind a long line nobody would see them. */
  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { shown } = this;
    const step = this.stale ? undefined : shown?.run.steps[this.step];
    if (!shown || !step || !this.isOf(document)) {
      return [];
    }
    const title = `$(debug-step-over) ${saidAbove(shown, this.step)}`;
    const tooltip = saidOf(shown, this.step);
    return [new vscode.CodeLens(toRange(step.location.range), { title, tooltip, command: 'fencepost.revealRun' })];
  }

  private decorate(): void {
    this.lensesChanged.fire();
    const step = this.stale ? undefined : this.shown?.run.steps[this.step];
    for (const editor of vscode.window.visibleTextEditors) {
      const own = step && this.session.client?.code2ProtocolConverter.asUri(editor.document.uri) === step.location.uri;
      if (!step || !own || !this.shown) {
        editor.setDecorations(this.here, []);
        continue;
      }
      editor.setDecorations(this.here, [toRange(step.location.range)]);
    }
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }
}
