// Kernels in the Test Explorer: each is an item under its file, and is run on the CPU, or on a GPU where the server can.
// A run passes where nothing is asserted, fails at the lines of what is, and is an error where it decides nothing.

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { orderRun, type RunAnswer } from './run';
import type { Session } from './session';
import type { StatusBar } from './status';
import { toRange } from './target';

/** Files that are listed before somebody opens them. */
const MOST_FILES = 500;

type Served = Record<'cpu' | 'gpu' | 'gsan', boolean>;

/** The controller of the items, and its profiles. */
export class KernelTests implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController('fencepost', 'Fencepost: runs of kernels');
  private profiles: vscode.TestRunProfile[] = [];
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly session: Session,
    private readonly status: StatusBar,
  ) {
    this.controller.resolveHandler = (item) => (item ? this.resolve(item) : this.discover());
    this.controller.refreshHandler = () => this.discover();
    const watcher = vscode.workspace.createFileSystemWatcher('**/*.{ttgir,ttir}');
    this.subscriptions = [
      this.controller,
      watcher,
      watcher.onDidCreate((uri) => void this.file(uri)),
      watcher.onDidDelete((uri) => this.controller.items.delete(uri.toString())),
      status.onChange((name) => this.follow(name)),
      session.onStart((client) => this.offer(client)),
      vscode.workspace.onDidCloseTextDocument((document) => {
        // What is not a file is gone when it is closed.
        if (document.uri.scheme !== 'file') {
          this.controller.items.delete(document.uri.toString());
        }
      }),
    ];
  }

  /** One profile for each way in which the server can run kernels. */
  private offer(client: LanguageClient): void {
    this.profiles.splice(0).forEach((profile) => profile.dispose());
    const served = client.initializeResult?.capabilities.experimental?.fencepost?.runs as Served | undefined;
    const ways: [keyof Served, string, 'cpu' | 'gpu', 'consan' | 'gsan'][] = [
      ['cpu', 'CPU', 'cpu', 'consan'],
      ['gpu', 'GPU', 'gpu', 'consan'],
      ['gsan', 'GPU, GSan', 'gpu', 'gsan'],
    ];
    for (const [name, label, backend, instrument] of ways) {
      if (served?.[name]) {
        const run = (request: vscode.TestRunRequest, cancel: vscode.CancellationToken) => this.run(request, cancel, backend, instrument);
        this.profiles.push(this.controller.createRunProfile(label, vscode.TestRunProfileKind.Run, run, backend === 'cpu'));
      }
    }
  }

  /** The TTGIR of the workspace; Python shows up once it is opened and has a kernel. */
  private async discover(): Promise<void> {
    const files = await vscode.workspace.findFiles('**/*.{ttgir,ttir}', '**/{node_modules,.git,.triton}/**', MOST_FILES);
    files.forEach((uri) => this.file(uri));
    for (const document of vscode.workspace.textDocuments) {
      this.follow(document.uri.toString());
    }
  }

  private file(uri: vscode.Uri): vscode.TestItem {
    const known = this.controller.items.get(uri.toString());
    if (known) {
      return known;
    }
    const item = this.controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
    item.canResolveChildren = true;
    this.controller.items.add(item);
    return item;
  }

  /** Opens a file, so that the server says which kernels it has. */
  private async resolve(item: vscode.TestItem): Promise<void> {
    if (item.uri && !item.parent) {
      item.busy = true;
      await Promise.resolve(vscode.workspace.openTextDocument(item.uri)).catch(() => undefined);
      await this.known(item.uri.toString());
      item.busy = false;
    }
  }

  /** Waits until the server has said which kernels a document has, but not for ever. */
  private async known(name: string): Promise<void> {
    const done = () => this.status.of(name)?.state === 'done';
    if (done()) {
      return;
    }
    await new Promise<void>((end) => {
      const finish = () => {
        heard.dispose();
        clearTimeout(late);
        end();
      };
      const heard = this.status.onChange((changed) => changed === name && done() && finish());
      const late = setTimeout(finish, 30_000);
    });
  }

  /** The items of a document are the kernels that it has now. */
  private follow(name: string): void {
    const status = this.status.of(name);
    if (status?.state !== 'done') {
      return;
    }
    const uri = vscode.Uri.parse(name);
    const names = status.kernels.map((kernel) => kernel.name);
    // A dump has each kernel many times, and none of them is what is run.
    if (names.length === 0 || new Set(names).size < names.length) {
      this.controller.items.delete(name);
      return;
    }
    const item = this.file(uri);
    const children = status.kernels.map((kernel) => {
      const child = item.children.get(kernel.name) ?? this.controller.createTestItem(kernel.name, kernel.name, uri);
      child.range = toRange(kernel.range);
      return child;
    });
    item.children.replace(children);
  }

  private async run(request: vscode.TestRunRequest, cancel: vscode.CancellationToken, backend: string, instrument: string): Promise<void> {
    const run = this.controller.createTestRun(request);
    const roots: vscode.TestItem[] = request.include ? [...request.include] : [];
    if (!request.include) {
      this.controller.items.forEach((item) => roots.push(item));
    }
    const queue: vscode.TestItem[] = [];
    for (const item of roots) {
      if (item.parent) {
        queue.push(item);
      } else {
        await this.resolve(item);
        item.children.forEach((child) => queue.push(child));
      }
    }
    const wanted = queue.filter((item) => !request.exclude?.includes(item));
    wanted.forEach((item) => run.enqueued(item));
    // One run of a document goes on at a time.
    for (const item of wanted) {
      if (cancel.isCancellationRequested) {
        run.skipped(item);
        continue;
      }
      run.started(item);
      await this.one(run, item, cancel, backend, instrument);
    }
    run.end();
  }

  private async one(run: vscode.TestRun, item: vscode.TestItem, cancel: vscode.CancellationToken, backend: string, instrument: string): Promise<void> {
    const client = this.session.client;
    const { uri } = item;
    if (!client || !uri) {
      run.errored(item, new vscode.TestMessage('Fencepost is not running.'));
      return;
    }
    let answer: RunAnswer;
    try {
      await vscode.workspace.openTextDocument(uri);
      const order = { uri: client.code2ProtocolConverter.asUri(uri), kernel: item.id, backend, instrument };
      answer = await orderRun(client, 'fencepost.runKernel', order, cancel);
    } catch (error) {
      if (cancel.isCancellationRequested) {
        run.skipped(item);
      } else {
        run.errored(item, new vscode.TestMessage(String(error)));
      }
      return;
    }
    const said = [answer.summary || answer.state, ...(answer.details ?? [])];
    run.appendOutput(`${said.join('\r\n')}\r\n`, undefined, item);
    const messages = answer.diagnostics.map((it) => {
      const message = new vscode.TestMessage(`${it.code}: ${it.message}`);
      message.location = new vscode.Location(uri, toRange(it.range));
      return message;
    });
    const told = [...messages, ...(messages.length === 0 || answer.outdated ? [new vscode.TestMessage(answer.summary)] : [])];
    const took = answer.seconds * 1000;
    switch (answer.state) {
      case 'passed':
        run.passed(item, took);
        break;
      case 'asserted':
      case 'hung':
        run.failed(item, told, took);
        break;
      case 'cancelled':
        run.skipped(item);
        break;
      // It says nothing of the kernel: neither that it is right nor that it is wrong.
      default:
        run.errored(item, told, took);
    }
  }

  dispose(): void {
    this.profiles.forEach((profile) => profile.dispose());
    this.subscriptions.forEach((one) => one.dispose());
  }
}
