// Where the server program is.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAM = process.platform === 'win32' ? 'fencepost.exe' : 'fencepost';

/**
 * The environment first (for tests), then the setting, then the program packed with the extension,
 * then the `PATH`.
 */
export function findServer(extensionPath: string, setting: string | null): string {
  const named = process.env.FENCEPOST_SERVER_PATH || setting;
  if (named) {
    if (!existsSync(named)) {
      throw new Error(`there is no program at ${named}`);
    }
    return named;
  }
  const packed = join(extensionPath, 'server', PROGRAM);
  return existsSync(packed) ? packed : PROGRAM;
}
