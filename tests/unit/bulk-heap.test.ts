import { expect, test } from 'bun:test';
import { BulkHeap, MOST_HEAP } from '../../src/sending/emails/bulk/bulk-heap.ts';

function world(left: number) {
  let size = 0;
  let collections = 0;
  const heap = new BulkHeap({
    size: () => size,
    collect: () => {
      collections++;
      size = left;
      return left;
    },
  });
  /** The number of collections once it has that size. */
  const at = (octets: number, areOthersAbout = false): number => {
    size = octets;
    heap.look(areOthersAbout);
    return collections;
  };
  return { at };
}

test('what campaigns leave behind is collected once the heap is larger than it may grow to', () => {
  const { at } = world(35_000_000);
  expect(at(MOST_HEAP)).toBe(0);
  expect(at(MOST_HEAP + 1)).toBe(1);
  expect(at(MOST_HEAP)).toBe(1);
  expect(at(MOST_HEAP + 1)).toBe(2);
});

test('a heap that is large for another reason may grow by half before it is collected again', () => {
  const left = MOST_HEAP;
  const { at } = world(left);
  expect(at(MOST_HEAP + 1)).toBe(1);
  expect(at(1.5 * left)).toBe(1);
  expect(at(1.5 * left + 1)).toBe(2);
});

test('while other mail is about, twice as much is left alone', () => {
  const { at } = world(35_000_000);
  expect(at(2 * MOST_HEAP, true)).toBe(0);
  expect(at(2 * MOST_HEAP + 1, true)).toBe(1);
  expect(at(2 * MOST_HEAP, true)).toBe(1);
  expect(at(MOST_HEAP)).toBe(1);
  expect(at(MOST_HEAP + 1)).toBe(2);
});

test('the runtime tells its heap and collects it', () => {
  const kept = Array.from({ length: 1_000 }, (_, n) => [n]);
  expect(() => new BulkHeap().look(false)).not.toThrow();
  expect(kept).toHaveLength(1_000);
});
