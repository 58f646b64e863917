import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { FileLost, RowSource } from '../../../src/audience/contacts/imports/file/row-source.ts';
import { PIECE } from '../../../src/audience/contacts/imports/file/stored-file.ts';
import { contactFile } from '../../support/contact-file.ts';

const START = { offset: 0, line: 1 };

const sourceOf = (content: Uint8Array, stored: 'utf-8' | 'windows-1252', from = START) =>
  new RowSource(
    {
      plan: { stored, delimiter: ',' },
      bytes: content.length,
      piece: async (n) => content.subarray(n * PIECE, (n + 1) * PIECE),
    },
    from,
  );

/** All rows, taken so many at a time; each time by a new source that begins where the last one ended. */
async function read(content: Uint8Array, stored: 'utf-8' | 'windows-1252', most: () => number) {
  const rows: (readonly [number, readonly string[]])[] = [];
  for (let from = START; ; ) {
    const taken = await sourceOf(content, stored, from).take(most());
    rows.push(...taken.rows.map(({ line, cells }) => [line, cells] as const));
    if (taken.isLast) return rows;
    from = taken.to;
  }
}

test('a file is read alike from any place between two rows on, over the bounds of its pieces', async () => {
  const text = `${'é,ü🎈\r\n"a\nb",c\r,,\n\n'.repeat(16_000)}x,y`;
  for (const stored of ['utf-8', 'windows-1252'] as const) {
    const content = stored === 'utf-8' ? Buffer.from(text) : Buffer.from(text, 'latin1');
    expect(content.length).toBeGreaterThan(PIECE);
    const atOnce = await read(content, stored, () => 1_000_000);
    expect(atOnce).toHaveLength(32_001);
    let seed = 7;
    const most = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return 500 + (seed % 3_000);
    };
    expect(await read(content, stored, most)).toEqual(atOnce);
  }
});

test('small files are read alike row by row', async () => {
  const parts = fc.array(fc.constantFrom('a', 'ü', '🎈', '"', ',', '\n', '\r', '"x\ny",'), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(parts, async (pieces) => {
      const content = Buffer.from(pieces.join(''));
      const byOne = await read(content, 'utf-8', () => 1);
      expect(byOne).toEqual(await read(content, 'utf-8', () => 1_000));
    }),
    { numRuns: 300 },
  );
});

test('a file whose piece is gone is reported as lost', async () => {
  const { content } = contactFile(10_000);
  const plan = { stored: 'utf-8', delimiter: ',' } as const;
  const source = new RowSource({ plan, bytes: content.length, piece: async () => null }, START);
  expect(source.take(10)).rejects.toBeInstanceOf(FileLost);
});

test('a file of empty lines is read in bounded steps, each of which goes on where the last one stood', async () => {
  const content = Buffer.from(`${'\n'.repeat(12 * PIECE)}a,b\n`);
  let reads = 0;
  const steps: number[] = [];
  let from = START;
  for (let isLast = false; !isLast; ) {
    reads = 0;
    const plan = { stored: 'utf-8', delimiter: ',' } as const;
    const piece = async (n: number) => {
      reads++;
      return content.subarray(n * PIECE, (n + 1) * PIECE);
    };
    const taken = await new RowSource({ plan, bytes: content.length, piece }, from).take(500);
    steps.push(reads);
    if (taken.rows.length > 0)
      expect(taken.rows[0]).toMatchObject({ line: 12 * PIECE + 1, cells: ['a', 'b'] });
    ({ to: from, isLast } = taken);
  }
  expect(steps).toEqual([8, 5]);
});

test('a line of many pieces is passed over in bounded steps, by one source that stays inside it', async () => {
  const content = Buffer.from(`a,b\n${'x'.repeat(20 * PIECE)}\nc,d\n`);
  const source = sourceOf(content, 'utf-8');
  const steps: (string | undefined)[][] = [];
  const places: number[] = [];
  for (let isLast = false; !isLast; ) {
    const taken = await source.take(1);
    steps.push(taken.rows.map(({ cells, fault }) => fault?.code ?? cells[0]));
    places.push(taken.to.offset);
    ({ isLast } = taken);
  }
  expect(steps).toEqual([['a'], [], [], ['cell_too_long'], ['c'], []]);
  expect(places.slice(0, 3)).toEqual([4, 4, 4]);
});
