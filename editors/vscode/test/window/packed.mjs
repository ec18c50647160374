// The extension as it is handed out: a .vsix is installed as a user does it, and starts the server that is packed with it.
// FENCEPOST_VSIX names it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Code, parts, until } from './window.mjs';

const vsix = process.env.FENCEPOST_VSIX;
// It brings its own server.
const found = parts({ server: false });
const missing = found.missing ?? (vsix && existsSync(vsix) ? undefined : 'FENCEPOST_VSIX names no file (cargo xtask dist makes one)');
if (missing) {
  console.log(`skipped: the packed extension: ${missing}`);
  process.exit(0);
}
const kernels = fileURLToPath(new URL('../../../../tests/kernels/', import.meta.url));
const code = await Code.start(found, { files: { 'broken.ttgir': `${kernels}ring_not_waited.ttgir` }, vsix });
try {
  const window = await code.window();
  await window.open('broken.ttgir');
  await until('the lens', () => window.page.locator('.codelens-decoration', { hasText: '1 finding' }).first().isVisible());
  const server = /server: (\S+), (fencepost \S+)/.exec(code.log());
  assert.match(server?.[1] ?? '', /extensions\/fencepost\.fencepost-[^/]+\/server\/fencepost$/, code.log());
  console.log(`ok the packed extension starts its own server: ${server[2]}`);
  console.log('test result: ok. 1 passed; 0 failed');
} catch (error) {
  console.log(code.log());
  throw error;
} finally {
  await code.close();
}
