// The server's life: found, checked, started once, started again; and what is said where it cannot be.

import * as vscode from 'vscode';
import { LanguageClient, State, type LanguageClientOptions, type ServerOptions } from 'vscode-languageclient/node';
import { OwnFeatures } from './features';
import { askInFront } from './questions';
import { RUN_COMMANDS, type RunAnswer, orderRun, runOptions, toastOf } from './run';
import { RunProgress } from './run_progress';
import { checkServer, findServer, missingRequests } from './server';
import { severityOf, showToast } from './toasts';

export const SELECTOR = [
  { language: 'ttgir' },
  { language: 'mlir', pattern: '**/*.{ttgir,ttir}' },
  { language: 'python' },
  { pattern: '**/fencepost.toml' },
];

type Follower = (client: LanguageClient) => void;

/** One server a window. */
export class Session implements vscode.Disposable {
  client: LanguageClient | undefined;
  private wanted = false;
  /** What was asked for last; starts and ends happen one after the other. */
  private work: Promise<void> = Promise.resolve();
  private readonly runs = new RunProgress(() => this.client);
  private readonly followers: Follower[] = [];
  private readonly waiting: ((client: LanguageClient | undefined) => void)[] = [];
  private readonly status = vscode.languages.createLanguageStatusItem('fencepost', { language: 'ttgir' });

  constructor(
    private readonly extensionPath: string,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.status.name = 'Fencepost';
    this.status.command = { command: 'fencepost.showLog', title: 'Open Log' };
  }

  /** Calls `follower` with each client once its server answers. */
  onStart(follower: Follower): vscode.Disposable {
    this.followers.push(follower);
    return new vscode.Disposable(() => {
      const at = this.followers.indexOf(follower);
      if (at >= 0) {
        this.followers.splice(at, 1);
      }
    });
  }

  /** Whether somebody has asked for a server. */
  get isWanted(): boolean {
    return this.wanted;
  }

  start(): Promise<void> {
    this.wanted = true;
    return this.next(() => this.startNow());
  }

  restart(): Promise<void> {
    this.wanted = true;
    return this.next(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  stop(): Promise<void> {
    return this.next(() => this.stopNow());
  }

  /** The client, once it runs; nothing where the server cannot be started. */
  async started(): Promise<LanguageClient | undefined> {
    if (this.client) {
      return this.client;
    }
    return this.wanted ? new Promise((done) => this.waiting.push(done)) : this.start().then(() => this.client);
  }

  /** The client, or a word that there is none. */
  need(): LanguageClient | undefined {
    if (!this.client) {
      void vscode.window.showWarningMessage('Fencepost is not running.', 'Restart the Server', 'Open Log').then((choice) => {
        if (choice) {
          void vscode.commands.executeCommand(choice === 'Open Log' ? 'fencepost.showLog' : 'fencepost.restart');
        }
      });
    }
    return this.client;
  }

  /** Has a run made, and says what it came to. */
  async run(client: LanguageClient, command: string, order: object): Promise<RunAnswer> {
    const answer = await orderRun(client, command, order);
    const toast = toastOf(answer);
    if (toast) {
      void showToast(this.log, toast);
    }
    return answer;
  }

  private next(work: () => Promise<void>): Promise<void> {
    this.work = this.work.then(work, work);
    return this.work;
  }

  private async startNow(): Promise<void> {
    if (this.client) {
      return;
    }
    this.status.busy = true;
    this.say('Fencepost is starting', vscode.LanguageStatusSeverity.Information, true);
    try {
      const settings = vscode.workspace.getConfiguration('fencepost');
      const command = findServer(this.extensionPath, settings.get<string | null>('server.path', null));
      const env = { ...process.env, ...settings.get<Record<string, string>>('server.extraEnv', {}) };
      this.log.info(`server: ${command}, ${await checkServer(command, env)}`);
      const client = this.make({ command, args: ['lsp'], options: { env } }, settings);
      await client.start();
      const lacks = missingRequests(client.initializeResult?.capabilities.experimental);
      if (lacks.length > 0) {
        await client.stop().catch(() => undefined);
        await client.dispose().catch(() => undefined);
        throw new Error(`\`${command}\` is older than this extension: it does not know ${lacks.map((it) => `\`${it}\``).join(', ')}. Update it, or name another one in \`fencepost.server.path\`.`);
      }
      this.client = client;
      // Before this the library has its own: toasts that hide, and that are cut off.
      client.onRequest('window/showMessageRequest', askInFront);
      client.onNotification('window/showMessage', ({ type, message }: { type: number; message: string }) => void showToast(this.log, { severity: severityOf(type), message }));
      this.followers.forEach((follow) => follow(client));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.log.error(why);
      this.say('Fencepost cannot start', vscode.LanguageStatusSeverity.Error, false);
      void this.tell(why);
    } finally {
      this.waiting.splice(0).forEach((done) => done(this.client));
    }
  }

  private async tell(why: string): Promise<void> {
    const choice = await vscode.window.showErrorMessage(`Fencepost cannot start: ${why}`, 'Open Settings', 'Try Again', 'Open Log');
    if (choice === 'Open Settings') {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'fencepost.server.path');
    } else if (choice === 'Try Again') {
      await this.restart();
    } else if (choice === 'Open Log') {
      this.log.show();
    }
  }

  private async stopNow(): Promise<void> {
    const old = this.client;
    this.client = undefined;
    this.runs.clear();
    // Asked to end first: to dispose of it at once writes to a pipe that is closed.
    await old?.stop().catch((error: unknown) => this.log.warn(`the server did not end: ${error}`));
    await old?.dispose().catch(() => undefined);
  }

  private make(run: ServerOptions, settings: vscode.WorkspaceConfiguration): LanguageClient {
    const options: LanguageClientOptions = {
      documentSelector: SELECTOR,
      initializationOptions: runOptions(settings),
      outputChannel: this.log,
      middleware: {
        // Those of lenses and actions.
        executeCommand: (command, args, next) => (RUN_COMMANDS.includes(command) ? this.run(made, command, args[0] ?? {}) : next(command, args)),
        handleWorkDoneProgress: (token, said, next) => {
          if (!this.runs.take(token, said)) {
            next(token, said);
          }
        },
      },
      // What goes wrong at the start is said once, in words of our own.
      initializationFailedHandler: () => false,
    };
    const made = new LanguageClient('fencepost', 'Fencepost', run, options);
    made.registerFeature(new OwnFeatures());
    made.onDidChangeState((change) => {
      if (change.newState === State.Running) {
        const version = made.initializeResult?.serverInfo?.version ?? '';
        this.say(`Fencepost ${version}`, vscode.LanguageStatusSeverity.Information, false);
      } else if (change.newState === State.Stopped && this.client === made) {
        this.say('Fencepost is stopped', vscode.LanguageStatusSeverity.Warning, false);
      }
    });
    return made;
  }

  private say(text: string, severity: vscode.LanguageStatusSeverity, busy: boolean): void {
    this.status.busy = busy;
    this.status.text = text;
    this.status.severity = severity;
  }

  dispose(): void {
    this.status.dispose();
  }
}
