// Where the server program is, and whether it is one that this extension can talk to.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PROGRAM = process.platform === 'win32' ? 'fencepost.exe' : 'fencepost';

/** Older servers lack requests that this extension makes. */
const OLDEST: [number, number] = [0, 1];

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

/**
 * What a program says of its version.
 *
 * @throws in a sentence, where it is no server that this extension can talk to.
 */
export async function checkServer(command: string, env: NodeJS.ProcessEnv): Promise<string> {
  let said: string;
  try {
    said = (await promisify(execFile)(command, ['--version'], { env, timeout: 20_000 })).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new Error(
        `there is no program \`${command}\` on the PATH. Install it (\`pip install fencepost\`, or \`cargo install\`), or name it in the setting \`fencepost.server.path\`.`,
      );
    }
    throw new Error(`\`${command} --version\` does not work: ${(error as Error).message.split('\n')[0]}`);
  }
  const version = /^fencepost (\d+)\.(\d+)/.exec(said);
  if (!version) {
    throw new Error(`\`${command}\` is not Fencepost: it says \`${said.split('\n')[0]}\`.`);
  }
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new Error(`\`${command}\` is ${said}, and this extension needs ${OLDEST.join('.')} or newer: update it, or name another one in \`fencepost.server.path\`.`);
  }
  return said;
}

/** Requests beyond the protocol that this extension makes. */
const REQUESTS = ['fencepost/run', 'fencepost/timeline', 'fencepost/explain', 'fencepost/reportHtml', 'fencepost/linkedRanges', 'fencepost/ir'];

/** Those that a server does not announce: a build between two releases has the version of neither. */
export function missingRequests(experimental: { fencepost?: { requests?: string[] } } | undefined): string[] {
  const known = experimental?.fencepost?.requests ?? [];
  return REQUESTS.filter((name) => !known.includes(name));
}
