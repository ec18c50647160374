// A `vscode` module that answers everything with something harmless, for running the bundle in
// plain Node. What a test looks at is real: commands, the status item, the server itself.

import Module from 'node:module';

/** A value that can be called, constructed and asked for any member. */
function anything(name) {
  return new Proxy(function () {}, {
    get(target, key) {
      if (key === 'then' || key === Symbol.toPrimitive || key === Symbol.iterator) {
        return undefined;
      }
      if (key !== 'prototype' && !(key in target)) {
        target[key] = key === 'dispose' ? () => {} : anything(`${name}.${String(key)}`);
      }
      return target[key];
    },
    apply: () => anything(`${name}()`),
    construct: () => anything(`new ${name}`),
  });
}

class Disposable {
  constructor(end) {
    this.end = end;
  }
  dispose() {
    this.end?.();
  }
  static from(...all) {
    return new Disposable(() => all.forEach((one) => one?.dispose?.()));
  }
}

class EventEmitter {
  listeners = [];
  event = (listener) => {
    this.listeners.push(listener);
    return new Disposable();
  };
  fire(value) {
    this.listeners.forEach((listener) => listener(value));
  }
  dispose() {}
}

/** A collection of test items. */
function items() {
  const all = new Map();
  return {
    add: (item) => all.set(item.id, item),
    get: (id) => all.get(id),
    delete: (id) => all.delete(id),
    replace: (others) => (all.clear(), others.forEach((item) => all.set(item.id, item))),
    forEach: (each) => all.forEach(each),
  };
}

/** Installs the module with these documents open, the first in the active editor; gives what the extension did. */
export function install(documents = []) {
  const seen = { commands: {}, errors: [], status: {}, providers: {}, shown: [], bar: {}, picked: [], panels: [], profiles: [] };
  seen.bar = { show: () => (seen.bar.shown = true), hide: () => (seen.bar.shown = false), dispose: () => {} };
  const vscode = anything('vscode');
  const register = (name, run) => {
    seen.commands[name] = run;
    return new Disposable();
  };
  Object.assign(vscode, {
    version: '1.93.0',
    Disposable,
    EventEmitter,
    ViewColumn: { Beside: -2 },
    StatusBarAlignment: { Left: 1, Right: 2 },
    TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
    LanguageStatusSeverity: { Information: 0, Warning: 1, Error: 2 },
    commands: { registerCommand: register, registerTextEditorCommand: register, executeCommand: async () => {} },
  });
  for (const room of ['workspace', 'window', 'languages', 'env', 'Uri', 'CodeActionKind', 'DiagnosticTag', 'ThemeColor', 'OverviewRulerLane', 'Position', 'Range', 'tests', 'TestMessage', 'TestRunProfileKind', 'Location']) {
    vscode[room];
  }
  Object.assign(vscode.workspace, {
    isTrusted: true,
    textDocuments: documents,
    openTextDocument: async (uri) => void seen.shown.push(`${uri.scheme}:${uri.path}?${uri.query}`),
    notebookDocuments: [],
    workspaceFolders: undefined,
    getConfiguration: () => ({ get: (_key, otherwise) => otherwise }),
    registerTextDocumentContentProvider: (scheme, provider) => {
      seen.providers[scheme] = provider;
      return new Disposable();
    },
  });
  Object.assign(vscode.window, {
    activeTextEditor: documents[0] && { document: documents[0] },
    createStatusBarItem: () => seen.bar,
    showQuickPick: async (items) => void (seen.picked = items),
    visibleTextEditors: [],
    tabGroups: { all: [], onDidChangeTabs: () => new Disposable() },
    createOutputChannel: () => new Proxy({}, { get: (_target, key) => (key === 'then' ? undefined : () => new Disposable()) }),
    createWebviewPanel: (viewType, title) => {
      const webview = { html: '', asWebviewUri: (uri) => uri, onDidReceiveMessage: () => new Disposable(), postMessage: async () => true };
      const panel = { viewType, title, webview, onDidDispose: () => new Disposable(), reveal: () => {}, dispose: () => {} };
      seen.panels.push(panel);
      return panel;
    },
    registerWebviewPanelSerializer: () => new Disposable(),
    showErrorMessage: async (message) => void seen.errors.push(message),
  });
  vscode.tests.createTestController = () => ({
    items: items(),
    createTestItem: (id, label, uri) => ({ id, label, uri, children: items() }),
    createRunProfile: (label, _kind, run) => {
      const profile = { label, run, dispose: () => seen.profiles.splice(seen.profiles.indexOf(profile), 1) };
      seen.profiles.push(profile);
      return profile;
    },
    dispose: () => {},
  });
  vscode.Uri.from = (parts) => parts;
  vscode.languages.match = () => 10;
  vscode.Uri.parse = (text) => ({ scheme: 'file', toString: () => text });
  vscode.languages.createLanguageStatusItem = () => seen.status;
  vscode.env.language = 'en';
  vscode.env.appName = 'a test';
  const load = Module._load;
  Module._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));
  return seen;
}
