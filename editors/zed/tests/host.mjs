// Zed's side of the extension: a component is made of the compiled module, as Zed makes one, and what it imports answers
// from plain objects.

import { readFile } from "node:fs/promises";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentNew } from "@bytecodealliance/jco-transpile/wasm-tools";

/** A project as Zed knows it: its folder, what its PATH leads to, its environment as pairs. */
export class Worktree {
  asked = [];

  constructor({ root = "/work", programs = {}, environment = [] } = {}) {
    Object.assign(this, { root, programs, environment });
  }

  id() {
    return 7n;
  }

  rootPath() {
    return this.root;
  }

  readTextFile(path) {
    throw `${path} is not there`;
  }

  which(name) {
    this.asked.push(name);
    return this.programs[name];
  }

  shellEnv() {
    return this.environment;
  }
}

class Nothing {}

let compiled;

/** The module as a component, in JavaScript: its files, and how one is instantiated. */
async function compile(module) {
  const component = await componentNew(await readFile(module), []);
  const { files, imports } = await transpileBytes(component, { name: "extension", instantiation: "async" });
  const source = Buffer.from(files["extension.js"]).toString("base64");
  const { instantiate } = await import(`data:text/javascript;base64,${source}`);
  return { files, imports, instantiate };
}

/**
 * The extension in a host of its own. `settings` are Zed's below `lsp`, by the server's name; what the extension asks for is
 * kept in `asked`.
 */
export async function load(module, settings) {
  compiled ??= compile(module);
  const { files, imports, instantiate } = await compiled;
  const asked = [];
  // As Zed has it: of a server that the settings do not name all is absent.
  const getSettings = (location, category, key) => {
    asked.push({ location, category, key });
    if (category !== "lsp") throw `no settings of ${category}`;
    if (settings instanceof Error) throw settings.message;
    return JSON.stringify({ binary: null, initialization_options: null, settings: null, ...settings[key] });
  };
  const host = {
    "get-settings": { default: getSettings },
    worktree: { default: Worktree },
    project: { default: Nothing },
    "key-value-store": { default: Nothing },
  };
  const extension = await instantiate((path) => WebAssembly.compile(files[path]), host);
  extension.initExtension();
  return { extension, asked, imports };
}
