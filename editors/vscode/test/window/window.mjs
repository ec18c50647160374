// A real VS Code window: its web build in a headless Chromium, with the extension installed.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PACKED = ['package.json', 'README.md', 'language-configuration.json', 'dist', 'media', 'syntaxes'];

/** How long something may take to appear, on a machine that has other work too. */
export const PATIENCE = 120_000;

/** Where VS Code's web build and a browser are, or why there is no window. */
export function parts({ server: needed = true } = {}) {
  const code = process.env.FENCEPOST_CODE_SERVER;
  const named = process.env.FENCEPOST_BROWSER;
  const browser = named ?? ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'].find(existsSync);
  const server = process.env.FENCEPOST_SERVER_PATH;
  if (!code || !existsSync(code)) return { missing: 'FENCEPOST_CODE_SERVER names no code-server (npm install code-server, with its Node first on the PATH)' };
  if (!browser || !existsSync(browser)) return { missing: 'there is no Chromium (FENCEPOST_BROWSER names one)' };
  if (needed && (!server || !existsSync(server))) return { missing: 'FENCEPOST_SERVER_PATH names no server' };
  return { code, browser, server };
}

async function freePort() {
  const probe = createServer();
  await new Promise((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

/** An environment without a variable. */
function without(env, name) {
  return Object.fromEntries(Object.entries(env).filter(([known]) => known !== name));
}

/** VS Code with one workspace; windows are opened in it. */
export class Code {
  /**
   * `files` are copied into the workspace, `settings` are the user's; `env` is added to the environment of the server. A
   * `vsix` is installed as a user does it, and its own server is started; else the extension's folder is copied.
   */
  static async start({ code, browser, server }, { files, settings = {}, env = {}, vsix }) {
    const made = new Code();
    made.home = mkdtempSync(join(tmpdir(), 'fencepost-code-'));
    made.work = join(made.home, 'work');
    mkdirSync(made.work);
    for (const [name, from] of Object.entries(files)) cpSync(from, join(made.work, name));
    const extensions = join(made.home, 'extensions');
    if (vsix) {
      execFileSync(code, ['--install-extension', vsix, '--extensions-dir', extensions, '--user-data-dir', join(made.home, 'data')], { stdio: 'pipe' });
    } else {
      for (const part of PACKED) cpSync(join(root, part), join(extensions, 'fencepost.fencepost-0.1.0', part), { recursive: true });
    }
    const named = vsix ? {} : { FENCEPOST_SERVER_PATH: server };
    made.settings(settings);
    const port = await freePort();
    made.url = `http://127.0.0.1:${port}/`;
    const args = ['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'];
    args.push('--user-data-dir', join(made.home, 'data'), '--extensions-dir', extensions, '--config', join(made.home, 'config.yaml'));
    writeFileSync(join(made.home, 'config.yaml'), 'cert: false\n');
    made.said = '';
    made.child = spawn(code, args, { env: { ...without(process.env, 'FENCEPOST_SERVER_PATH'), ...named, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    for (const stream of [made.child.stdout, made.child.stderr]) stream.on('data', (data) => (made.said += data));
    await until('code-server listens', async () => (await fetch(made.url).catch(() => undefined))?.ok, PATIENCE);
    made.browser = await chromium.launch({ executablePath: browser, ignoreDefaultArgs: ['--hide-scrollbars'], args: ['--no-sandbox', '--disable-gpu'] });
    return made;
  }

  settings(more) {
    const folder = join(this.home, 'data', 'User');
    mkdirSync(folder, { recursive: true });
    const plain = {
      'workbench.startupEditor': 'none',
      'workbench.colorTheme': 'Default Dark Modern',
      'window.autoDetectColorScheme': false,
      'chat.disableAIFeatures': true,
      'workbench.tips.enabled': false,
      'editor.minimap.enabled': false,
      'workbench.secondarySideBar.defaultVisibility': 'hidden',
      'security.workspace.trust.enabled': false,
      'extensions.ignoreRecommendations': true,
    };
    this.user = { ...plain, ...this.user, ...more };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(this.user));
  }

  /** A window on the workspace. */
  async window(width = 1440, height = 900) {
    const page = await this.browser.newPage({ viewport: { width, height } });
    const window = new Window(page, this);
    page.on('console', (message) => window.console.push(`${message.type()}: ${message.text()}`));
    await page.goto(`${this.url}?folder=${this.work}`);
    await page.waitForSelector('.monaco-workbench', { timeout: PATIENCE });
    return window;
  }

  /** What the extension has logged. */
  log() {
    return logFiles(join(this.home, 'data', 'logs')).map((file) => readFileSync(file, 'utf8')).join('\n');
  }

  async close() {
    if (this.closed) return;
    this.closed = true;
    await this.browser?.close();
    const ended = new Promise((done) => this.child.once('exit', done));
    try {
      process.kill(-this.child.pid, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
    await Promise.race([ended, new Promise((done) => setTimeout(done, 5000))]);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The extension's log files below a folder. */
function logFiles(folder) {
  if (!existsSync(folder)) return [];
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return all.filter((name) => /fencepost/i.test(name) && name.endsWith('.log')).map((name) => join(folder, name));
}

/** What stands in the list that some keys open, before anything is typed. */
const STARTS = { F1: '>', 'Control+p': '', 'Control+g': ':' };

/** One window. */
export class Window {
  console = [];

  constructor(page, code) {
    this.page = page;
    this.code = code;
  }

  /** Opens a file of the workspace. */
  async open(name) {
    await this.pick('Control+p', name);
    await this.page.waitForSelector(`.tab.active[data-resource-name="${name}"]`, { timeout: PATIENCE });
  }

  press(keys) {
    return this.page.keyboard.press(keys);
  }

  /** Runs a command by its title. */
  async command(title) {
    await this.pick('F1', title);
  }

  /** Types into the list that some keys open. */
  async ask(keys, text) {
    // Keys that come while the focus moves are lost. What is typed before the list has it, or into one that is about to
    // close, ends up in the editor.
    const input = this.page.locator('.quick-input-box input:focus');
    const opened = async () => (await input.inputValue({ timeout: 1000 }).catch(() => undefined)) === STARTS[keys];
    await until('the list', async () => {
      await this.press(keys);
      return until('the list at once', opened, 5000).then(() => true, () => false);
    });
    await this.page.keyboard.type(text);
  }

  /** Takes the first entry with a text from the list that some keys open. */
  async pick(keys, text) {
    await this.ask(keys, text);
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
    await row.waitFor({ timeout: PATIENCE });
    await row.click();
  }

  /** Goes to a line of the active editor. */
  async line(number, column = 1) {
    await this.ask('Control+g', `${number}:${column}`);
    // Enter does nothing until the list has an entry.
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: `line ${number} at column ${column}` }).first();
    await row.click({ timeout: PATIENCE });
    await this.inEditor();
  }

  /** The frame of a panel's own page: the one that has `selector`, once its scripts hear what is pressed and clicked. */
  async panel(selector, patience = PATIENCE) {
    return until(`a panel with ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        // VS Code shows a page before all of it has come.
        const loaded = (selector) => document.readyState === 'complete' && document.querySelector(selector) !== null;
        if (await frame.evaluate(loaded, selector).catch(() => false)) return frame;
      }
      return undefined;
    }, patience);
  }

  /** Gives a part of a panel the focus: keys that come before the panel has the window's own are lost. */
  async focus(frame, part) {
    await until('the focus in the panel', async () => {
      await part.focus({ timeout: 2000 }).catch(() => undefined);
      return frame.evaluate(() => document.hasFocus()) && part.evaluate((it) => it === document.activeElement).catch(() => false);
    });
  }

  /** Goes to the next problem, which puts it into a box between the lines, and back into the code. */
  async nextProblem() {
    const box = this.page.locator('.marker-widget');
    await this.command('Go to Next Problem (Error, Warning, Info)');
    await box.first().waitFor({ timeout: PATIENCE });
    await until('no box', async () => {
      if ((await box.count()) === 0) return true;
      await this.press('Escape');
      return false;
    });
    await this.inEditor();
  }

  /** Keys that come before an editor has the focus again are lost. */
  async inEditor() {
    await until('the editor has the focus', () => this.page.locator('.editor-instance .monaco-editor.focused').first().isVisible());
  }

  /**
   * All that is said of a server that does not start. Messages are shown in the order in which they are sent, and a command
   * that needs the server has one of its own: once that is there, none of the start is still to come.
   */
  async wordsOfStart(shot) {
    const NEEDED = 'Fencepost is not running.';
    const toasts = this.page.locator('.notification-list-item-message', { hasText: 'Fencepost' });
    await until('a word', async () => (await toasts.count()) > 0);
    await this.shot(shot);
    await this.command('Show Barrier Report');
    const words = await until('the word of a command', async () => {
      const all = await toasts.allInnerTexts();
      return all.includes(NEEDED) && all;
    });
    return words.filter((word) => word !== NEEDED);
  }

  async shot(name) {
    const folder = process.env.FENCEPOST_SHOTS;
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `${name}.png`) });
  }
}

/** What a condition gives once it holds. */
export async function until(what, condition, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`it never came: ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
