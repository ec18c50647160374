// A headless Chromium, driven over its debugging pipe: no packages, no ports.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long an answer may take. */
const PATIENCE = 30_000;

/** A running browser. */
export class Browser {
  #child;
  #folder;
  #next = 1;
  #waiting = new Map();
  #listeners = new Set();
  #rest = "";

  constructor(program) {
    this.#folder = mkdtempSync(join(tmpdir(), "fencepost-browser-"));
    const args = [
      "--headless",
      "--no-sandbox",
      "--remote-debugging-pipe",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
      "--hide-scrollbars",
      "--force-device-scale-factor=1",
      `--user-data-dir=${this.#folder}`,
    ];
    this.#child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#child.stdio[4].setEncoding("utf8");
    this.#child.stdio[4].on("data", (data) => this.#read(data));
    this.#child.stdio[3].on("error", () => {});
    this.#child.on("error", (error) => this.#fail(error));
    this.#child.on("exit", (code) => this.#fail(new Error(`the browser ended with ${code}`)));
  }

  #read(data) {
    const parts = (this.#rest + data).split("\0");
    this.#rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      const waiting = this.#waiting.get(message.id);
      if (waiting) {
        this.#waiting.delete(message.id);
        if (message.error) waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
        else waiting.resolve(message.result);
      } else {
        for (const listener of this.#listeners) listener(message);
      }
    }
  }

  #fail(error) {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  /** Sends a command of the DevTools protocol. */
  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), PATIENCE);
      const done = (finish) => (value) => {
        clearTimeout(timer);
        finish(value);
      };
      this.#waiting.set(id, { method, resolve: done(resolve), reject: done(reject) });
      this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** Calls `listener` for each event. */
  listen(listener) {
    this.#listeners.add(listener);
  }

  /** A new tab of this size. */
  async tab(width, height) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, sessionId, targetId);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await tab.send(`${domain}.enable`);
    await tab.resize(width, height);
    return tab;
  }

  /** Ends it. */
  async close() {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    await this.send("Browser.close").catch(() => this.#child.kill());
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const KEYS = { Tab: 9, Enter: 13, " ": 32, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };

/** A tab, with what it complained about and what it asked the network for. */
export class Tab {
  complaints = [];
  requests = [];
  #loaded = () => {};

  constructor(browser, session, target) {
    this.browser = browser;
    this.session = session;
    this.target = target;
    browser.listen(({ sessionId, method, params }) => {
      if (sessionId !== session) return;
      if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.text);
      if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
        this.complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
      }
      if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) {
        this.complaints.push(params.entry.text);
      }
      if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
      if (method === "Page.loadEventFired") this.#loaded();
    });
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  async open(url) {
    const loaded = new Promise((resolve) => (this.#loaded = resolve));
    await this.send("Page.navigate", { url });
    await loaded;
  }

  resize(width, height) {
    return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** `light` or `dark`, as the system would ask for; `media` may be `print`. */
  prefer(scheme, media = "") {
    return this.send("Emulation.setEmulatedMedia", { media, features: [{ name: "prefers-color-scheme", value: scheme }] });
  }

  /** The value of a function that runs in the page. */
  async run(code, ...args) {
    const expression = `(${code})(...${JSON.stringify(args)})`;
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async press(key, modifiers = 0) {
    const event = { key, code: key === " " ? "Space" : key, windowsVirtualKeyCode: KEYS[key], modifiers };
    const text = { Enter: "\r", " ": " " }[key] ?? "";
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", text, ...event });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  async point(x, y) {
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  }

  /** A PNG, in base64, of an area of the page. */
  async picture(clip) {
    const { data } = await this.send("Page.captureScreenshot", { clip: { ...clip, scale: clip.scale ?? 1 }, captureBeyondViewport: true });
    return data;
  }
}
