import { expect, test } from 'bun:test';
import { ordered } from '../../src/ops/backup/catalogue.ts';
import type { Part } from '../../src/ops/backup/parts.ts';
import { Progress, rowsOf, sizeOf } from '../../src/ops/backup/progress.ts';

const HEADER: Part = {
  kind: 'header',
  header: {
    posthorn: '1.0.0',
    migrations: [],
    source: 'embedded',
    takenAt: '',
    secretKey: null,
    days: [],
    tables: 2,
    estimatedRows: 1_000,
  },
};

async function* parts(): AsyncGenerator<Part> {
  yield HEADER;
  yield { kind: 'table', table: { name: 'emails', columns: 'id' } };
  for (let i = 0; i < 100; i++) yield { kind: 'rows', rows: new Uint8Array() };
  yield { kind: 'trailer', trailer: { rows: {} } };
}

async function shown(columns: number | undefined): Promise<string> {
  const shown: string[] = [];
  let now = 0;
  const screen = { error: (more: string) => void shown.push(more), columns };
  const progress = new Progress('Backed up', screen, () => now);
  for await (const part of progress.count(parts())) {
    if (part.kind === 'rows') progress.addRows(10);
    now += 30;
  }
  progress.end();
  return shown.join('');
}

test('without a terminal, progress is a line for every tenth', async () => {
  const lines = (await shown(undefined)).trimEnd().split('\n');
  expect(lines).toHaveLength(9);
  expect(lines[0]).toBe('Backed up 10 %: 100 rows, table 1 of 2 (emails)');
  expect(lines.at(-1)).toStartWith('Backed up 90 %: 900 rows');
});

test('in a window it is a bar that stays on its line, however narrow the window is', async () => {
  for (const columns of [120, 30, 3]) {
    const text = await shown(columns);
    const frames = text.split('\r\u001b[K');
    expect(text).not.toContain('\n');
    expect(frames.every((frame) => frame.length <= columns)).toBeTrue();
    // One for each tenth of a second that has passed.
    expect(frames.length).toBeLessThan(40);
  }
  expect(await shown(120)).toContain('[####');
});

test('a single row is written as one', () => {
  expect([0, 1, 2, 1_001].map(rowsOf)).toEqual(['0 rows', '1 row', '2 rows', '1,001 rows']);
});

test('a size is written in the unit that fits it', () => {
  expect([0, 999, 1_000, 1_234_567, 9_876_543_210].map(sizeOf)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.0 kB',
    '1.2 MB',
    '9.9 GB',
  ]);
});

test('tables are loaded after those that they refer to; a circle is an error', () => {
  const table = (name: string, ...needs: string[]) => ({ name, needs });
  const order = ordered([table('a', 'c'), table('b'), table('c', 'b', 'absent')]);
  expect(order.map(({ name }) => name)).toEqual(['b', 'c', 'a']);
  expect(() => ordered([table('a', 'b'), table('b', 'a')])).toThrow('a, b refer to one another in a circle');
});
