// The extension for Zed, compiled to WebAssembly and driven through the interface by which Zed calls it.
// FENCEPOST_ZED_MODULE is the module, FENCEPOST_SERVER_PATH a server, where one is built.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Worktree, load } from "./host.mjs";

const module = process.env.FENCEPOST_ZED_MODULE;
const server = process.env.FENCEPOST_SERVER_PATH;
if (!server) console.log("skipped: Zed's command starts a server: no server is built");
const NAME = "fencepost";

/** What the README shows as settings. */
const page = JSON.parse(/```json\n([^]*?)```/.exec(readFileSync(new URL("../README.md", import.meta.url), "utf8"))[1]);

const failure = (call) => {
  try {
    call();
  } catch (error) {
    return error.payload ?? String(error);
  }
  assert.fail("it succeeds");
};

test("it imports no more of Zed than it uses", async () => {
  const { imports } = await load(module, {});
  assert.deepEqual(imports.toSorted(), ["get-settings", "key-value-store", "project", "worktree"]);
});

test("the program on the PATH of the project is started as a language server", async () => {
  const { extension, asked } = await load(module, {});
  const environment = [["PATH", "/opt/bin"], ["CUDA_HOME", "/cuda"]];
  const worktree = new Worktree({ root: "/src", programs: { fencepost: "/opt/bin/fencepost" }, environment });
  const command = extension.languageServerCommand(NAME, worktree);
  assert.deepEqual(command, { command: "/opt/bin/fencepost", args: ["lsp"], env: environment });
  assert.deepEqual(worktree.asked, ["fencepost"]);
  // Settings are those of this project and this server.
  assert.deepEqual(asked, [{ location: { worktreeId: 7n, path: "" }, category: "lsp", key: NAME }]);
});

test("settings name another program, its arguments and its environment", async () => {
  const binary = { path: "/mine/fencepost", arguments: ["lsp", "--log", "debug"], env: { CUDA_HOME: "/other", NEW: "1" } };
  const { extension } = await load(module, { [NAME]: { binary } });
  const environment = [["PATH", "/opt/bin"], ["CUDA_HOME", "/cuda"]];
  const worktree = new Worktree({ programs: { fencepost: "/opt/bin/fencepost" }, environment });
  const { command, args, env } = extension.languageServerCommand(NAME, worktree);
  assert.deepEqual([command, args], [binary.path, binary.arguments]);
  assert.deepEqual(env.toSorted(), [["CUDA_HOME", "/other"], ["NEW", "1"], ["PATH", "/opt/bin"]]);
  assert.deepEqual(worktree.asked, []);
});

test("arguments may be set alone", async () => {
  const { extension } = await load(module, { [NAME]: { binary: { path: null, arguments: ["lsp", "--help"], env: null } } });
  const { command, args } = extension.languageServerCommand(NAME, new Worktree({ programs: { fencepost: "/bin/fencepost" } }));
  assert.deepEqual([command, args], ["/bin/fencepost", ["lsp", "--help"]]);
});

test("where there is no program it says what to do", async () => {
  const { extension } = await load(module, {});
  const said = failure(() => extension.languageServerCommand(NAME, new Worktree()));
  assert.equal(said, "there is no `fencepost` on the PATH; `lsp.fencepost.binary.path` names one");
});

test("settings that Zed cannot give are an error in its words", async () => {
  const { extension } = await load(module, new Error("the settings are broken"));
  const worktree = new Worktree({ programs: { fencepost: "/bin/fencepost" } });
  assert.equal(failure(() => extension.languageServerCommand(NAME, worktree)), "the settings are broken");
  assert.equal(failure(() => extension.languageServerInitializationOptions(NAME, worktree)), "the settings are broken");
});

test("options and settings reach the server as they are", async () => {
  const options = { trusted: true, python: "/venv/bin/python" };
  const settings = { target: "sm_100", exclude: ["third_party/**"], limits: { totalSteps: 5 } };
  const { extension } = await load(module, { [NAME]: { initialization_options: options, settings } });
  const worktree = new Worktree();
  assert.deepEqual(JSON.parse(extension.languageServerInitializationOptions(NAME, worktree)), options);
  // The server asks for its section of them.
  assert.deepEqual(JSON.parse(extension.languageServerWorkspaceConfiguration(NAME, worktree)), { fencepost: settings });
  const other = await load(module, {});
  assert.equal(other.extension.languageServerInitializationOptions(NAME, worktree), undefined);
  assert.equal(other.extension.languageServerWorkspaceConfiguration(NAME, worktree), undefined);
});

test("what it leaves to Zed stays empty", async () => {
  const { extension } = await load(module, {});
  const worktree = new Worktree();
  assert.equal(extension.languageServerAdditionalInitializationOptions(NAME, "pyright", worktree), undefined);
  assert.equal(extension.languageServerAdditionalWorkspaceConfiguration(NAME, "pyright", worktree), undefined);
  assert.deepEqual(extension.labelsForCompletions(NAME, []), []);
  assert.deepEqual(extension.labelsForSymbols(NAME, []), []);
});

test("the settings of the page are taken", async () => {
  const { extension } = await load(module, page.lsp);
  const { binary, initialization_options: options, settings } = page.lsp[NAME];
  const { command, args } = extension.languageServerCommand(NAME, new Worktree());
  assert.deepEqual([command, args], [binary.path, binary.arguments]);
  assert.deepEqual(JSON.parse(extension.languageServerInitializationOptions(NAME, new Worktree())), options);
  assert.deepEqual(JSON.parse(extension.languageServerWorkspaceConfiguration(NAME, new Worktree())), { fencepost: settings });
});

test("the command that it gives starts a server that takes its options", { skip: !server }, async () => {
  const { extension } = await load(module, page.lsp);
  const worktree = new Worktree({ programs: { fencepost: server } });
  const found = (await load(module, {})).extension.languageServerCommand(NAME, worktree);
  const options = JSON.parse(extension.languageServerInitializationOptions(NAME, worktree));
  const message = (body) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...body });
    return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  };
  const params = { processId: null, rootUri: null, capabilities: {}, initializationOptions: { ...options, python: undefined } };
  const input = [
    message({ id: 1, method: "initialize", params }),
    message({ method: "initialized", params: {} }),
    message({ id: 2, method: "shutdown" }),
    message({ method: "exit" }),
  ].join("");
  const ran = spawnSync(found.command, found.args, { input, encoding: "utf8", timeout: 60_000 });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /"serverInfo":\{"name":"fencepost"/);
});
