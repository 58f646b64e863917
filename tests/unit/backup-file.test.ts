import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FRAME_HEAD, MARK } from '../../src/ops/backup/frames.ts';
import { countRows, type Header, inPieces, type Part } from '../../src/ops/backup/parts.ts';
import { isEncrypted, readBackup, readHeader } from '../../src/ops/backup/read-file.ts';
import { BackupRefused } from '../../src/ops/backup/refused.ts';
import { writeBackup } from '../../src/ops/backup/write-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-backup-'));
  path = join(folder, 'backup');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const HEADER: Header = {
  posthorn: '1.0.0',
  migrations: [{ name: '0000_schema', hash: 'h' }],
  source: 'embedded',
  takenAt: '2026-11-22T12:00:00.000Z',
  secretKey: 'the key of all secrets',
  days: [0],
  tables: 2,
  estimatedRows: 3,
};
const PARTS: readonly Part[] = [
  { kind: 'header', header: HEADER },
  { kind: 'table', table: { name: 'a', columns: 'id, text' } },
  { kind: 'rows', rows: bytes('1\tone\\n\n2\t\\N\n') },
  { kind: 'table', table: { name: 'b', columns: 'id' } },
  { kind: 'rows', rows: bytes('1\n') },
  { kind: 'trailer', trailer: { rows: { a: 2, b: 1 } } },
];

async function* given(parts: readonly Part[] = PARTS): AsyncGenerator<Part> {
  yield* parts;
}

async function all(from: AsyncIterable<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of from) parts.push(part);
  return parts;
}

const refusal = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'nothing was refused',
    (error: unknown) => {
      expect(error).toBeInstanceOf(BackupRefused);
      return (error as Error).message;
    },
  );

const write = (passphrase: string | null = null, parts: readonly Part[] = PARTS) =>
  writeBackup(path, given(parts), { passphrase, cost: 2 ** 10 });

/** The beginnings of the frames, and the end. */
function boundaries(file: Buffer): number[] {
  const found: number[] = [];
  let at = MARK.length + 4 + file.readUInt32BE(MARK.length);
  while (at < file.length) {
    found.push(at);
    at += FRAME_HEAD + file.readUInt32BE(at + 1);
  }
  return [...found, at];
}

describe.each([
  ['readable', null],
  ['encrypted', 'correct horse battery'],
])('a backup file, %s', (_, passphrase) => {
  test('is read as it was written, and only by its owner', async () => {
    expect(await write(passphrase)).toBe(statSync(path).size);
    expect(await all(readBackup(path, passphrase))).toEqual([...PARTS]);
    expect(await readHeader(path, passphrase)).toEqual(HEADER);
    expect(await isEncrypted(path)).toBe(passphrase !== null);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['backup']);
  });

  test('that is torn, at the end of any frame or anywhere else, is refused', async () => {
    await write(passphrase);
    const whole = readFileSync(path);
    const ends = boundaries(whole);
    expect(ends).toHaveLength(PARTS.length + 1);
    const frames = ends.slice(0, -1);
    const cuts = [...frames, ...frames.map((end) => end + 3), whole.length - 1, 3, 9, 14];
    for (const cut of cuts) {
      writeFileSync(path, whole.subarray(0, cut));
      expect(await refusal(all(readBackup(path, passphrase)))).toMatch(
        /is damaged: |is not a backup of Posthorn\./,
      );
    }
  });

  test('with a changed byte, or frames that changed places, is refused', async () => {
    await write(passphrase);
    const whole = readFileSync(path);
    const ends = boundaries(whole);
    const cut = (from: number, to: number) => whole.subarray(ends[from], ends[to]);
    const begin = whole.subarray(0, ends[0]);
    const swapped = Buffer.concat([begin, cut(0, 1), cut(3, 5), cut(1, 3), cut(5, 6)]);
    const doubled = Buffer.concat([begin, cut(0, 3), cut(2, 6)]);
    const longer = Buffer.concat([whole, cut(5, 6)]);
    const flipped = ends.slice(0, -1).map((end) => {
      const other = Buffer.from(whole);
      other.writeUInt8(other.readUInt8(end + FRAME_HEAD) ^ 1, end + FRAME_HEAD);
      return other;
    });
    for (const file of [swapped, doubled, longer, ...flipped]) {
      writeFileSync(path, file);
      expect(await refusal(all(readBackup(path, passphrase)))).toContain('is damaged: ');
    }
  });
});

test('an encrypted backup shows nothing of what is in it, and wants its own passphrase', async () => {
  await write('correct horse battery');
  for (const secret of ['the key of all secrets', '0000_schema'])
    expect(readFileSync(path).includes(secret)).toBeFalse();
  expect(await refusal(readHeader(path, 'correct horse batterY'))).toBe(
    'The passphrase is not the one that this backup was encrypted with.',
  );
  expect(await refusal(readHeader(path, null))).toContain('is encrypted: give its passphrase');
});

test('two backups of the same rows under one passphrase have no frame in common', async () => {
  await write('correct horse battery');
  const first = readFileSync(path);
  rmSync(path);
  await write('correct horse battery');
  const [begin = 0] = boundaries(first);
  expect(readFileSync(path).subarray(begin).equals(first.subarray(begin))).toBeFalse();
});

test('a file that is no backup, or one of a newer form, is distinguished from a damaged one', async () => {
  writeFileSync(path, 'a letter');
  expect(await refusal(isEncrypted(path))).toContain('is not a backup of Posthorn.');
  writeFileSync(path, '');
  expect(await refusal(isEncrypted(path))).toContain('is not a backup of Posthorn.');
  rmSync(path);
  expect(await refusal(isEncrypted(path))).toContain('There is no ');
  await write();
  const file = readFileSync(path);
  const newer = Buffer.from(file.toString('latin1').replace('"format":2', '"format":3'), 'latin1');
  writeFileSync(path, newer);
  expect(await refusal(readHeader(path, null))).toContain('was made by a newer version of Posthorn.');
});

test('a preface that would cost a reader all its memory is refused', async () => {
  const preface = JSON.stringify({
    format: 1,
    lock: { cost: 2 ** 30, blockSize: 8, parallelism: 1, salt: 'AAAA', check: 'AAAA' },
  });
  const length = Buffer.alloc(4);
  length.writeUInt32BE(preface.length);
  writeFileSync(path, Buffer.concat([MARK, length, Buffer.from(preface)]));
  expect(await refusal(readHeader(path, 'correct horse battery'))).toContain('its preface cannot be read');
});

describe('a backup that cannot be written', () => {
  test('leaves what is there as it is, and nothing beside it', async () => {
    writeFileSync(path, 'mine');
    expect(await refusal(write())).toContain('exists already');
    expect(readFileSync(path, 'utf8')).toBe('mine');
    rmSync(path);
    mkdirSync(path);
    expect(await refusal(write())).toContain('exists already');
    path = join(folder, 'nowhere', 'backup');
    expect(await refusal(write())).toContain('There is no ');
    expect(readdirSync(folder)).toEqual(['backup']);
  });

  test('because its source fails half-way, appears under no name', async () => {
    async function* failing(): AsyncGenerator<Part> {
      yield* PARTS.slice(0, 3);
      throw new Error('the database is away');
    }
    await expect(writeBackup(path, failing(), { passphrase: null })).rejects.toThrow('the database is away');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('takes the place of one that was cut off before', async () => {
    writeFileSync(`${path}.part`, Buffer.alloc(100_000, 1));
    await write();
    expect(await all(readBackup(path, null))).toEqual([...PARTS]);
    expect(existsSync(`${path}.part`)).toBeFalse();
  });

  test('is never written through a link, nor into a file that others may read, which wait under its name', async () => {
    const elsewhere = join(folder, 'elsewhere');
    writeFileSync(elsewhere, 'mine');
    symlinkSync(elsewhere, `${path}.part`);
    await write();
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
    expect(lstatSync(path).isFile()).toBeTrue();
    rmSync(path);
    writeFileSync(`${path}.part`, '', { mode: 0o666 });
    await write();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('while another one is written to the same name, says so, and does not bring the other one out', async () => {
    async function* overtaken(): AsyncGenerator<Part> {
      yield* PARTS;
      // The other one has as much of the file as this one when it is looked at.
      copyFileSync(`${path}.part`, elsewhere);
      renameSync(elsewhere, `${path}.part`);
    }
    const elsewhere = join(folder, 'elsewhere');
    expect(await refusal(writeBackup(path, overtaken(), { passphrase: null }))).toContain(
      'Another backup is written to ',
    );
    expect(existsSync(path)).toBeFalse();
  });
});

test('rows are cut between two rows, also where one is longer than a piece', () => {
  const rows = bytes(`${'a'.repeat(10)}\n${'b'.repeat(1_000)}\nc\nd\n`);
  const pieces = [...inPieces(rows, 12)].map((piece) => new TextDecoder().decode(piece));
  expect(pieces.join('')).toBe(new TextDecoder().decode(rows));
  expect(pieces.every((piece) => piece.endsWith('\n'))).toBeTrue();
  expect(pieces.length).toBeGreaterThan(1);
  expect(countRows(rows)).toBe(4);
  expect([...inPieces(bytes(''), 12)]).toEqual([]);
});
