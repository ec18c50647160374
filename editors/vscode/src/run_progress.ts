// How far a run of a kernel is: in front, with a button that stops it. The library's own progress is a word in the status
// bar that cannot be stopped.

import * as vscode from 'vscode';
import type { LanguageClient, WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport } from 'vscode-languageclient/node';

type Token = string | number;
type Said = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

interface Shown {
  report: (said: { message?: string; percentage?: number }) => void;
  end: () => void;
}

/** The runs of one client. */
export class RunProgress {
  private readonly shown = new Map<Token, Shown>();

  constructor(private readonly client: () => LanguageClient | undefined) {}

  /** Whether it shows what is said of a token. */
  take(token: Token, said: Said): boolean {
    if (said.kind === 'begin' && said.cancellable && String(token).startsWith('fencepost/run')) {
      this.begin(token, said);
      return true;
    }
    const shown = this.shown.get(token);
    if (said.kind === 'report') {
      shown?.report(said);
    } else if (said.kind === 'end') {
      this.shown.delete(token);
      shown?.end();
    }
    // The library forgets what has ended.
    return shown !== undefined && said.kind !== 'end';
  }

  private begin(token: Token, said: WorkDoneProgressBegin): void {
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: said.title };
    void vscode.window.withProgress(options, (progress, cancelled) => {
      cancelled.onCancellationRequested(() => this.client()?.sendNotification('window/workDoneProgress/cancel', { token }));
      let done = 0;
      const report: Shown['report'] = ({ message, percentage }) => {
        const increment = Math.max(0, (percentage ?? done) - done);
        done += increment;
        progress.report({ message, increment });
      };
      report(said);
      return new Promise<void>((end) => this.shown.set(token, { report, end }));
    });
  }

  /** A server that is gone runs nothing. */
  clear(): void {
    this.shown.forEach((it) => it.end());
    this.shown.clear();
  }
}
