// What can be said of the extension without an editor: its parts are there, and the grammar
// colours what it should.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const oniguruma = require('vscode-oniguruma');
const textmate = require('vscode-textmate');
const here = (path) => new URL(`../${path}`, import.meta.url);
const read = (path) => readFileSync(here(path), 'utf8');
const manifest = JSON.parse(read('package.json'));

test('every file that the manifest names is there', () => {
  const { languages, grammars } = manifest.contributes;
  const files = [manifest.main, ...languages.map((it) => it.configuration), ...grammars.map((it) => it.path)];
  for (const file of files) {
    assert.ok(existsSync(here(file)), file);
  }
});

test('the code registers the commands of the manifest, and no others', () => {
  const source = read('src/extension.ts');
  const named = Object.fromEntries([...read('src/features.ts').matchAll(/const (\w+) = '([^']+)'/g)].map(([, name, value]) => [name, value]));
  const registered = [...source.matchAll(/register(?:TextEditor)?Command\(('[^']+'|\w+)/g)].map(([, it]) => named[it] ?? it.slice(1, -1));
  assert.deepEqual(registered.sort(), manifest.contributes.commands.map((it) => it.command).sort());
});

test('keys, menus and the walkthrough name commands and files that there are', () => {
  const { commands, keybindings, menus, walkthroughs } = manifest.contributes;
  const known = commands.map((it) => it.command);
  const used = [...keybindings, ...Object.values(menus).flat()].map((it) => it.command);
  const steps = walkthroughs.flatMap((it) => it.steps);
  const linked = steps.flatMap((step) => [...step.description.matchAll(/command:(fencepost\.\w+)/g)].map((match) => match[1]));
  for (const command of [...used, ...linked]) assert.ok(known.includes(command), command);
  for (const step of steps) assert.ok(existsSync(here(step.media.markdown)), step.media.markdown);
});

test('titles of commands are written one way, and the page names commands that there are', () => {
  const small = ['a', 'an', 'and', 'by', 'in', 'of', 'on', 'the', 'to'];
  const titles = manifest.contributes.commands.map((it) => it.title);
  for (const title of titles) {
    for (const [at, word] of title.split(' ').entries()) {
      const lower = at > 0 && small.includes(word);
      assert.ok(lower || /^[(A-Z]/.test(word), `${title}: ${word}`);
    }
  }
  for (const [, title] of read('README.md').matchAll(/\*Fencepost: ([^*]+)\*/g)) assert.ok(titles.includes(title), title);
});

test('pages of panels run and load nothing but what they name', () => {
  const source = read('src/page.ts');
  assert.match(source, /default-src 'none'; style-src 'nonce-\$\{nonce\}'; script-src 'nonce-\$\{nonce\}'/);
  assert.doesNotMatch(source, /unsafe/);
});

test('modifiers that get a colour are the server\'s', () => {
  const known = manifest.contributes.semanticTokenModifiers.map((it) => it.id);
  const standard = ['async', 'defaultLibrary'];
  for (const { scopes } of manifest.contributes.semanticTokenScopes) {
    for (const selector of Object.keys(scopes)) {
      const [, ...modifiers] = selector.split('.');
      assert.ok(modifiers.every((it) => known.includes(it) || standard.includes(it)), selector);
    }
  }
});

test('the grammar colours a kernel', async () => {
  const scopes = await tokenize(
    '  tt.func public @gemm(%a: !tt.ptr<f16>) { // sync\n' +
      '    ttng.wait_barrier %bar#0, %c0_i32 : !ttg.memdesc<1xi64, #shared>\n' +
      '    %x = "arith.constant"() {value = -1.5e3 : f32} : () -> f32',
  );
  const expected = {
    'tt.func': 'keyword.declaration.function.ttgir',
    '@gemm': 'entity.name.function.ttgir',
    '%a': 'variable.other.ttgir',
    '// sync': 'comment.line.double-slash.ttgir',
    'ttng.wait_barrier': 'support.function.barrier.ttgir',
    '%bar#0': 'variable.other.ttgir',
    '#shared': 'entity.name.type.alias.ttgir',
    '-1.5e3': 'constant.numeric.ttgir',
    f32: 'storage.type.ttgir',
  };
  for (const [text, scope] of Object.entries(expected)) {
    assert.equal(scopes.get(text), scope, text);
  }
});

async function tokenize(text) {
  const wasm = readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')).buffer;
  await oniguruma.loadWASM(wasm);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (string) => new oniguruma.OnigString(string),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(read('syntaxes/ttgir.tmLanguage.json'), 'ttgir.json'),
  });
  const grammar = await registry.loadGrammar('source.ttgir');
  const scopes = new Map();
  let stack = textmate.INITIAL;
  for (const line of text.split('\n')) {
    const result = grammar.tokenizeLine(line, stack);
    for (const token of result.tokens) {
      scopes.set(line.slice(token.startIndex, token.endIndex).trim(), token.scopes.at(-1));
    }
    stack = result.ruleStack;
  }
  return scopes;
}
