import { openBodyStoreAlone } from '../../../platform/bodies/open.ts';
import type { Config } from '../../../platform/config/config.ts';
import { BodyReader } from '../../backup/bodies.ts';
import { dump } from '../../backup/dump.ts';
import type { Part } from '../../backup/parts.ts';
import { Progress, sizeOf } from '../../backup/progress.ts';
import { countingRows } from '../../backup/restore.ts';
import { openSource } from '../../backup/source.ts';
import { writeBackup } from '../../backup/write-file.ts';
import type { Terminal } from '../terminal.ts';
import { newPassphrase, type PassphraseRequest } from './passphrase.ts';

/** `posthorn backup <file>` writes everything in the database, and the key of its secrets, into one file. */
export async function runBackup(
  config: Config,
  path: string,
  request: PassphraseRequest,
  terminal: Terminal,
): Promise<number> {
  const passphrase = await newPassphrase(config, request, terminal);
  const source = await openSource(config);
  const bodies = new BodyReader(await openBodyStoreAlone(config));
  const progress = new Progress('Backed up', terminal);
  let told = '';
  try {
    const parts = summed(
      countingRows(dump(source.session, source.secretKey, bodies), progress),
      (summary) => {
        told = summary;
      },
    );
    const bytes = await writeBackup(path, parts, {
      passphrase,
      onWritten: (written) => progress.setBytes(written),
    });
    progress.end();
    terminal.out(`${path} holds ${told}, in ${sizeOf(bytes)}.\n`);
  } catch (error) {
    progress.end();
    throw error;
  } finally {
    await source.close();
  }
  if (bodies.lost > 0)
    terminal.error(
      `${bodies.lost.toLocaleString('en')} bodies are not in it: they are missing or damaged in BODY_STORE, or what refers to them was removed meanwhile.\n`,
    );
  if (bodies.isExchanged)
    terminal.error(
      'BODY_STORE is another bucket than the one with the bodies of this database: set it as it was, and back up again. `posthorn doctor` says what to do if they are lost.\n',
    );
  if (passphrase === null && source.secretKey !== null)
    terminal.error(
      'The secret key is in it, readable: keep the file as you keep that key, or encrypt backups with --encrypt or --passphrase-file.\n',
    );
  return 0;
}

/** Says what went by, once it is all there. */
async function* summed(parts: AsyncIterable<Part>, tell: (summary: string) => void): AsyncGenerator<Part> {
  let takenAt = '';
  for await (const part of parts) {
    if (part.kind === 'header') ({ takenAt } = part.header);
    if (part.kind === 'trailer') {
      const counts = Object.values(part.trailer.rows);
      const rows = counts.reduce((sum, count) => sum + count, 0);
      const { bodies = 0 } = part.trailer;
      const also =
        bodies > 0 ? ` and ${bodies.toLocaleString('en')} ${bodies === 1 ? 'body' : 'bodies'}` : '';
      tell(`${rows.toLocaleString('en')} rows of ${counts.length} tables${also} as they were at ${takenAt}`);
    }
    yield part;
  }
}
