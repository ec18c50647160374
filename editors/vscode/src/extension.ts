// Starts the server on TTGIR buffers and on Python that mentions Gluon, and shows what it says beyond
// diagnostics. A window with other Python only has no server.

import * as vscode from 'vscode';
import { LanguageClient, State, type LanguageClientOptions, type ServerOptions } from 'vscode-languageclient/node';

import { registerDocuments, showRun, showTimeline } from './documents';
import { OwnFeatures, SHOW_TIMELINE, showReport, type ReportTarget } from './report';
import { replayLog, runKernel, runOptions } from './run';
import { findServer } from './server';
import { StatusBar } from './status';

let client: LanguageClient | undefined;

const SELECTOR = [
  { language: 'ttgir' },
  { language: 'mlir', pattern: '**/*.{ttgir,ttir}' },
  { language: 'python' },
  { pattern: '**/fencepost.toml' },
];

/** Whether a document is one that the server is for. */
function isOurs(document: vscode.TextDocument): boolean {
  return vscode.languages.match(SELECTOR, document) > 0 && (document.languageId !== 'python' || document.getText().includes('gluon'));
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('Fencepost', { log: true });
  const status = vscode.languages.createLanguageStatusItem('fencepost', { language: 'ttgir' });
  status.name = 'Fencepost';
  status.command = { command: 'fencepost.showLog', title: 'Open Log' };
  const bar = new StatusBar();

  let started = false;
  const start = async () => {
    started = true;
    status.busy = true;
    status.text = 'Fencepost is starting';
    try {
      client = createClient(context, log, status, bar);
      await client.start();
    } catch (error) {
      say(status, String(error), vscode.LanguageStatusSeverity.Error);
      const choice = await vscode.window.showErrorMessage(`Fencepost cannot start: ${error}`, 'Open Settings', 'Open Log');
      if (choice === 'Open Settings') {
        await vscode.commands.executeCommand('workbench.action.openSettings', 'fencepost.server.path');
      } else if (choice === 'Open Log') {
        log.show();
      }
    }
  };
  const restart = async () => {
    const old = client;
    client = undefined;
    bar.clear();
    await old?.dispose();
    await start();
  };
  const startFor = (document: vscode.TextDocument) => {
    if (!started && isOurs(document)) {
      void start();
    }
  };

  context.subscriptions.push(
    log,
    status,
    bar,
    registerDocuments(() => client),
    vscode.commands.registerCommand('fencepost.restart', restart),
    vscode.commands.registerCommand('fencepost.showLog', () => log.show()),
    vscode.commands.registerCommand('fencepost.runCpu', () => runKernel(client, 'cpu', 'consan')),
    vscode.commands.registerCommand('fencepost.runGpu', () => runKernel(client, 'gpu', 'consan')),
    vscode.commands.registerCommand('fencepost.runGsan', () => runKernel(client, 'gpu', 'gsan')),
    vscode.commands.registerCommand('fencepost.replay', () => replayLog(client)),
    vscode.commands.registerCommand('fencepost.showStatus', () => bar.pick()),
    vscode.commands.registerTextEditorCommand('fencepost.showRun', (editor) => showRun(client, editor)),
    vscode.commands.registerCommand(SHOW_TIMELINE, (target?: ReportTarget) => showTimeline(client, target)),
    vscode.commands.registerCommand('fencepost.showReport', (target?: ReportTarget) =>
      showReport(client, typeof target?.uri === 'string' ? target : undefined),
    ),
    vscode.workspace.onDidOpenTextDocument(startFor),
    vscode.workspace.onDidSaveTextDocument(startFor),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (started && (event.affectsConfiguration('fencepost.server') || event.affectsConfiguration('fencepost.python'))) {
        void restart();
      }
    }),
    // What may be run is said when the server starts.
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      if (started) {
        void restart();
      }
    }),
  );
  // Opening any Python file activates the extension; the server waits for one with Gluon.
  const documents = vscode.workspace.textDocuments.filter((document) => vscode.languages.match(SELECTOR, document) > 0);
  if (documents.length === 0 || documents.some(isOurs)) {
    await start();
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function createClient(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  status: vscode.LanguageStatusItem,
  bar: StatusBar,
): LanguageClient {
  const settings = vscode.workspace.getConfiguration('fencepost');
  const command = findServer(context.extensionPath, settings.get<string | null>('server.path', null));
  const env = { ...process.env, ...settings.get<Record<string, string>>('server.extraEnv', {}) };
  const run: ServerOptions = { command, args: ['lsp'], options: { env } };
  const options: LanguageClientOptions = {
    documentSelector: SELECTOR,
    initializationOptions: runOptions(settings),
    outputChannel: log,
  };
  log.info(`server: ${command}`);
  const made = new LanguageClient('fencepost', 'Fencepost', run, options);
  made.registerFeature(new OwnFeatures());
  bar.follow(made);
  made.onDidChangeState((change) => {
    if (change.newState === State.Running) {
      const version = made.initializeResult?.serverInfo?.version ?? '';
      say(status, `Fencepost ${version}`, vscode.LanguageStatusSeverity.Information);
    } else if (change.newState === State.Stopped) {
      say(status, 'Fencepost is stopped', vscode.LanguageStatusSeverity.Warning);
    }
  });
  return made;
}

function say(status: vscode.LanguageStatusItem, text: string, severity: vscode.LanguageStatusSeverity): void {
  status.busy = false;
  status.text = text;
  status.severity = severity;
}
