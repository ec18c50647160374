// Starts the server on TTGIR buffers and on Python that mentions Gluon, and shows what it says beyond
// diagnostics. A window with other Python only has no server.

import * as vscode from 'vscode';

import { pickPage, registerPages } from './documents';
import { SHOW_IR, SHOW_LINKED, SHOW_REPORT, SHOW_TIMELINE } from './features';
import { IrViews } from './ir_view';
import { KernelTests } from './kernel_tests';
import { LinkedViews } from './linked';
import { Marks } from './marks';
import { ReportPanels } from './report_panel';
import { replayLog, runKernel } from './run';
import { SELECTOR, Session } from './session';
import { StatusBar } from './status';
import { Stepping } from './stepping';
import { asTarget, type KernelTarget } from './target';

let session: Session | undefined;

/** Whether a document is one that the server is for. */
function isOurs(document: vscode.TextDocument): boolean {
  return vscode.languages.match(SELECTOR, document) > 0 && (document.languageId !== 'python' || /\b(?:triton|gluon)\b/.test(document.getText()));
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('Fencepost', { log: true });
  const own = new Session(context.extensionPath, log);
  session = own;
  const bar = new StatusBar();
  const reports = new ReportPanels(own, context.extensionPath);
  const stepping = new Stepping(own, context.extensionPath);
  const linked = new LinkedViews(own);
  const irs = new IrViews(own, bar);
  const kinds = Object.keys(context.extension?.packageJSON.contributes.configuration.properties['fencepost.kinds'].properties ?? {});
  const startFor = (document: vscode.TextDocument) => {
    if (!own.isWanted && isOurs(document)) {
      void own.start();
    }
  };
  const restart = () => {
    bar.clear();
    return own.restart();
  };

  /** What a lens names, else the kernel at the cursor. */
  const here = (argument: unknown): KernelTarget | undefined => {
    const editor = vscode.window.activeTextEditor;
    const target = asTarget(argument);
    if (target || !editor || !own.client) {
      return target;
    }
    const uri = own.client.code2ProtocolConverter.asUri(editor.document.uri);
    const kernel = bar.kernelAt(editor.document, editor.selection.active);
    return kernel ? { uri, kernel: kernel.name } : { uri };
  };
  const showReport = async (argument: unknown) => {
    if (own.need()) {
      const target = here(argument);
      await (target ? reports.show(target) : vscode.window.showInformationMessage('Open a kernel to see its barrier report.'));
    }
  };
  const showTimeline = async (argument: unknown) => {
    const target = own.need() && here(argument);
    if (target && !(await stepping.show(target))) {
      void vscode.window.showInformationMessage('Fencepost has no run of this kernel.');
    }
  };
  /** The ops of the kernel that a lens names, or of the one at the cursor, of which an instance is chosen. */
  const showIr = async (argument: unknown) => {
    const editor = vscode.window.activeTextEditor;
    const named = asTarget(argument);
    if (named) {
      await irs.show(named, false);
    } else if (editor && own.need()) {
      const uri = own.client?.code2ProtocolConverter.asUri(editor.document.uri) ?? '';
      await irs.show({ uri, position: own.client?.code2ProtocolConverter.asPosition(editor.selection.active) }, true);
    }
  };
  const showRun = async (editor: vscode.TextEditor) => {
    const client = own.need();
    if (!client) {
      return;
    }
    const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
    const position = client.code2ProtocolConverter.asPosition(editor.selection.active);
    if (!(await stepping.show({ uri, position }))) {
      void vscode.window.showInformationMessage('Fencepost has no finding in this kernel.');
    }
  };

  context.subscriptions.push(
    log,
    own,
    bar,
    reports,
    stepping,
    linked,
    irs,
    new KernelTests(own, bar),
    new Marks(bar),
    own.onStart((client) => bar.follow(client)),
    registerPages(own),
    vscode.commands.registerCommand('fencepost.restart', restart),
    vscode.commands.registerCommand('fencepost.showLog', () => log.show()),
    vscode.commands.registerCommand('fencepost.showVersion', () => showVersion(own)),
    vscode.commands.registerCommand('fencepost.explain', (argument?: unknown) => pickPage(kinds, argument)),
    vscode.commands.registerCommand('fencepost.runCpu', () => runKernel(own, bar, 'cpu', 'consan')),
    vscode.commands.registerCommand('fencepost.runGpu', () => runKernel(own, bar, 'gpu', 'consan')),
    vscode.commands.registerCommand('fencepost.runGsan', () => runKernel(own, bar, 'gpu', 'gsan')),
    vscode.commands.registerCommand('fencepost.replay', () => replayLog(own)),
    vscode.commands.registerCommand('fencepost.showStatus', () => bar.pick()),
    vscode.commands.registerTextEditorCommand('fencepost.showRun', showRun),
    vscode.commands.registerTextEditorCommand(SHOW_LINKED, (editor, _edit, place?: unknown) => (place ? linked.showAt(place) : linked.show(editor))),
    vscode.commands.registerCommand('fencepost.nextStep', () => stepping.move(1)),
    vscode.commands.registerCommand('fencepost.previousStep', () => stepping.move(-1)),
    vscode.commands.registerCommand('fencepost.revealRun', () => stepping.reveal()),
    vscode.commands.registerCommand('fencepost.endRun', () => stepping.end()),
    vscode.commands.registerCommand(SHOW_TIMELINE, showTimeline),
    vscode.commands.registerCommand(SHOW_REPORT, showReport),
    vscode.commands.registerCommand(SHOW_IR, showIr),
    vscode.workspace.onDidOpenTextDocument(startFor),
    vscode.workspace.onDidSaveTextDocument(startFor),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (own.isWanted && (event.affectsConfiguration('fencepost.server') || event.affectsConfiguration('fencepost.python'))) {
        void restart();
      }
    }),
    // What may be run is said when the server starts.
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      if (own.isWanted) {
        void restart();
      }
    }),
  );
  // Opening any Python file activates the extension; the server waits for one that mentions Triton or Gluon.
  const documents = vscode.workspace.textDocuments.filter((document) => vscode.languages.match(SELECTOR, document) > 0);
  if (documents.length === 0 || documents.some(isOurs)) {
    await own.start();
  }
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}

async function showVersion(own: Session): Promise<void> {
  const info = (await own.started())?.initializeResult?.serverInfo;
  if (info) {
    void vscode.window.showInformationMessage(`Fencepost: server ${info.name} ${info.version ?? ''}`);
  }
}
