import { spawnSync } from 'node:child_process';
import { dependencies } from '../../package.json';

/** Carries the IANA database, and follows each of its releases within days. */
export const ZONES_PACKAGE = 'moment-timezone';

/** The version of the package that this checkout pins. */
export const pinnedVersion: string = dependencies[ZONES_PACKAGE];

/** The newest version that the registry has; null when it does not answer. */
export function newestVersion(): string | null {
  const { status, stdout } = spawnSync(process.execPath, ['info', ZONES_PACKAGE, 'version'], {
    encoding: 'utf8',
  });
  const version = stdout.trim();
  return status === 0 && /^\d+\.\d+\.\d+$/.test(version) ? version : null;
}
