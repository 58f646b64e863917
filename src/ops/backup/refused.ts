/**
 * A backup, a restore or a move cannot be made as things are. The message says why, and what to do; nothing
 * was changed.
 */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/** A backup is to go into a database that has something in it already. */
export class TargetNotEmpty extends BackupRefused {}

/** The sentences for errors of the operating system that an operator can correct. */
const SAYS: Readonly<Record<string, (path: string) => string>> = {
  ENOSPC: (path) => `There is no room left on the disk of ${path}. Make room, or choose another place.`,
  EDQUOT: (path) => `The quota of the disk of ${path} is used up. Make room, or choose another place.`,
  EFBIG: (path) => `${path} is longer than its file system allows. Choose another place.`,
  ENOENT: (path) => `There is no ${path}.`,
  ENOTDIR: (path) => `There is no folder for ${path}.`,
  EISDIR: (path) => `${path} is a folder. Name a file.`,
  EACCES: (path) => `${path} may not be read or written by this user.`,
  EPERM: (path) => `${path} may not be read or written by this user.`,
  EROFS: (path) => `${path} lies on a file system that is read-only. Choose another place.`,
  EIO: (path) => `The disk of ${path} reports an error.`,
};

/** Turns an error of the operating system into a sentence; any other is returned as it is. */
export function asRefused(path: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const sentence = typeof code === 'string' ? SAYS[code]?.(path) : undefined;
  return sentence === undefined ? error : new BackupRefused(`${sentence} (${code})`, { cause: error });
}
