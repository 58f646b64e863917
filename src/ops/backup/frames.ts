import type { Header, Part, Table, Trailer } from './parts.ts';

// The layout of a backup file: the mark, the length of the preface and the preface (JSON), then frames. A
// frame is a byte for its kind, four for its length, and its body, compressed with zstd and then sealed. All
// numbers are big-endian.

/** The first bytes of every backup. */
export const MARK = Buffer.from('PHBACKUP', 'latin1');

/** The form of the file. A version reads its own and those before. */
export const FORMAT = 2;

/** The bytes before the body of a frame. */
export const FRAME_HEAD = 5;

/** A longer preface is none of ours. */
export const LONGEST_PREFACE = 4_096;

/** The first form, which had no bodies. */
export const OLDEST_FORMAT = 1;

const KINDS = ['header', 'table', 'rows', 'trailer', 'body'] as const satisfies readonly Part['kind'][];

export const numberOf = (kind: Part['kind']): number => KINDS.indexOf(kind) + 1;

export const kindOf = (number: number): Part['kind'] | undefined => KINDS[number - 1];

const LEVEL = { level: 3 };
const LINE_END = 10;

const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The body of a part, compressed. */
export async function packed(part: Part): Promise<Uint8Array> {
  switch (part.kind) {
    case 'header':
      return Bun.zstdCompress(text(part.header), LEVEL);
    case 'table':
      return Bun.zstdCompress(text(part.table), LEVEL);
    case 'rows':
      return Bun.zstdCompress(part.rows, LEVEL);
    case 'trailer':
      return Bun.zstdCompress(text(part.trailer), LEVEL);
    case 'body': {
      // It is a zstd frame already.
      const name = Buffer.from(`${part.key}\n`, 'latin1');
      return Buffer.concat([name, part.octets]);
    }
  }
}

/** The part that a body was made of. */
export async function unpacked(kind: Part['kind'], body: Uint8Array): Promise<Part> {
  if (kind === 'body') {
    const end = body.indexOf(LINE_END);
    return {
      kind,
      key: Buffer.from(body.subarray(0, end)).toString('latin1'),
      octets: body.subarray(end + 1),
    };
  }
  const bytes = await Bun.zstdDecompress(body as Uint8Array<ArrayBuffer>);
  const value = (): unknown => JSON.parse(bytes.toString('utf8'));
  switch (kind) {
    case 'header':
      return { kind, header: value() as Header };
    case 'table':
      return { kind, table: value() as Table };
    case 'rows':
      return { kind, rows: bytes as Uint8Array<ArrayBuffer> };
    case 'trailer':
      return { kind, trailer: value() as Trailer };
  }
}
