import { expect, test } from 'bun:test';
import { Batcher, COMMIT_LIMITS, GATHERED, HALVED } from '../../src/platform/async/batcher.ts';
import { Gathering } from '../../src/platform/async/gathering.ts';

test('with few inside, no item waits for others', () => {
  const gathering = new Gathering();
  expect(gathering.patience(1, 0)).toBe(0);
  expect(gathering.patience(1, 14)).toBe(0);
});

test('a batch waits until it has half of what has been inside', () => {
  const gathering = new Gathering();
  gathering.patience(64, 0);
  expect(gathering.patience(31, 10)).toBeGreaterThan(0);
  expect(gathering.patience(32, 10)).toBe(0);
});

test('a batch does not wait for the last few, since hardly anybody is left', () => {
  const gathering = new Gathering();
  gathering.patience(64, 0);
  expect(gathering.patience(17, 40)).toBeGreaterThan(0);
  expect(gathering.patience(18, 40)).toBe(0);
});

test('the time for which a batch waits follows what batches take, within bounds', () => {
  const gathering = new Gathering();
  gathering.patience(64, 0);
  expect(gathering.patience(1, 0)).toBe(1);
  for (let n = 0; n < 100; n++) gathering.returned(6);
  expect(gathering.patience(1, 0)).toBeCloseTo(3, 1);
  expect(gathering.patience(1, 20)).toBeCloseTo(6, 1);
  for (let n = 0; n < 100; n++) gathering.returned(7_000);
  expect(gathering.patience(1, 20)).toBe(8);
});

test('once fewer come, what was inside is forgotten', () => {
  const gathering = new Gathering();
  gathering.patience(64, 0);
  for (let n = 0; n < 100; n++) gathering.left();
  expect(gathering.patience(1, 0)).toBe(0);
});

/** A batcher whose batches return when the test says so. */
function held(limits = HALVED) {
  const batches: { readonly items: readonly number[]; end(): void }[] = [];
  const batcher = new Batcher<number>(
    'held',
    (items) => new Promise<void>((end) => batches.push({ items, end })),
    limits,
    2,
  );
  const push = (count: number) => {
    for (let n = 0; n < count; n++) batcher.push(n);
  };
  const sizes = () => batches.map(({ items }) => items.length);
  const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  return { batcher, batches, push, sizes, turn };
}

test('clients that all ask again at once are two batches, of which the first leaves before the last of them is there', async () => {
  const { batcher, batches, push, sizes, turn } = held();
  const endAll = () => {
    for (const { end } of batches) end();
  };
  // Nothing is known of them yet.
  push(64);
  expect(sizes()).toEqual([16, 16]);
  endAll();
  await turn();
  expect(sizes()).toEqual([16, 16, 32]);
  endAll();
  await batcher.drained();
  // At most 48 have been inside at once, and that fades.
  push(40);
  expect(sizes().slice(3)).toEqual([23]);
  push(24);
  expect(sizes().slice(3)).toEqual([23, 23]);
  endAll();
  await turn();
  expect(sizes().slice(3)).toEqual([23, 23, 18]);
  endAll();
  await batcher.drained();
});

test('what waits for more leaves after its time, though nothing comes', async () => {
  const { batcher, batches, push, sizes, turn } = held();
  push(64);
  for (let n = 0; n < 3; n++) {
    for (const { end } of batches) end();
    await turn();
  }
  await batcher.drained();
  expect(sizes()).toEqual([16, 16, 32]);
  push(1);
  const drained = batcher.drained();
  while (sizes().length < 4) await turn();
  expect(sizes()).toEqual([16, 16, 32, 1]);
  batches[3]?.end();
  await drained;
});

test('a batch that fills its statement leaves, what is not halved leaves whole, and without gathering one item does', async () => {
  const full = held({ ...HALVED, batchItems: 12 });
  full.push(120);
  await full.turn();
  expect(full.sizes()).toEqual([12, 12]);
  const drained = full.batcher.drained();
  while (full.batches.length < 10) {
    for (const { end } of full.batches) end();
    await full.turn();
  }
  expect(full.sizes()).toEqual(Array.from({ length: 10 }, () => 12));
  for (const { end } of full.batches) end();
  await drained;
  const whole = held(GATHERED);
  whole.push(64);
  expect(whole.sizes()).toEqual([]);
  await whole.turn();
  expect(whole.sizes()).toEqual([64]);
  for (const { end } of whole.batches) end();
  const plain = held(COMMIT_LIMITS);
  plain.push(64);
  await plain.turn();
  plain.push(1);
  await plain.turn();
  expect(plain.sizes()).toEqual([64, 1]);
  for (const { end } of plain.batches) end();
});

test('half of what has lately been inside is a batch, and a few never are', () => {
  const gathering = new Gathering();
  expect(gathering.isHalf(15, 0)).toBeFalse();
  expect(gathering.isHalf(16, 0)).toBeTrue();
  expect(gathering.isHalf(20, 44)).toBeFalse();
  expect(gathering.isHalf(31, 0)).toBeFalse();
  expect(gathering.isHalf(32, 0)).toBeTrue();
  for (let n = 0; n < 14; n++) gathering.left();
  expect(gathering.isHalf(16, 0)).toBeTrue();
});
