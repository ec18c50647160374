// Servers that are too old for this extension: a readable word, once.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Code } from './window.mjs';

export async function oldServers(found, files, check, opened) {
  // A program of an earlier release, and a build that says the version of this one and does not know all of its requests.
  const old = join(mkdtempSync(join(tmpdir(), 'fencepost-old-')), 'fencepost');
  const tells = (version, rest) => writeFileSync(old, `#!/bin/sh\nif [ "$1" = --version ]; then echo "fencepost ${version}"; exit; fi\n${rest}\n`, { mode: 0o755 });
  const between = `exec "${process.execPath}" "${fileURLToPath(new URL('old_server.mjs', import.meta.url))}"`;
  for (const [name, version, rest, says] of [
    ['of an earlier release', '0.0.9', 'exit 1', /is fencepost 0\.0\.9, and this extension needs 0\.1 or newer/],
    ['of an earlier build', '0.1.0', between, /older than this extension: it does not know .*fencepost\/ir/],
  ]) {
    tells(version, rest);
    const early = await Code.start({ ...found, server: old }, { files });
    try {
      const window = await early.window();
      opened(window);
      await check(`a server ${name} is said once, and in words`, async () => {
        await window.open('broken.ttgir');
        const all = await window.wordsOfStart(`old-${version}`);
        assert.equal(all.length, 1, all.join('\n'));
        assert.match(all[0], says);
      });
    } finally {
      await early.close();
    }
  }
  rmSync(dirname(old), { recursive: true, force: true });
}
