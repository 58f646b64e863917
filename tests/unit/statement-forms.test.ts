import { expect, test } from 'bun:test';
import { columnsWith, Forms, type Part } from '../../src/engine/store/statements/statement-forms.ts';
import { partsOf } from '../../src/engine/store/statements/statement-parts.ts';
import { domainKind } from '../../src/sending/domains/kind.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';

const PARTS: readonly Part[] = [
  { name: 'claim', columns: ['key', 'reply'] },
  ...Array.from({ length: 9 }, (_, index) => ({ name: `fact${index}`, columns: [`fact${index}`] })),
];

/** A form that says which parts it has. */
const forms = () => new Forms(PARTS, (has) => PARTS.map(({ name }) => name).filter(has));

test('a batch gets the parts that one of its rows needs, and no other', () => {
  const some = forms();
  expect(some.for([{}, { fact3: [] }, { key: null, fact1: undefined }])).toEqual(['fact3']);
  expect(some.for([{ key: 'a' }, { fact1: 0 }])).toEqual(['claim', 'fact1']);
  expect(some.for([{ reply: 'without a key' }])).toEqual([]);
});

test('the same parts are the same form', () => {
  const some = forms();
  expect(some.for([{ fact1: 1 }])).toBe(some.for([{}, { fact1: 2 }]));
});

test('forms are bounded: what comes after the eighth is the whole', () => {
  const some = forms();
  const eight = Array.from({ length: 8 }, (_, index) => some.for([{ [`fact${index}`]: 1 }]));
  expect(eight.map((form) => form.length)).toEqual(Array.from({ length: 8 }, () => 1));
  const ninth = some.for([{ fact8: 1 }]);
  expect(ninth).toEqual(PARTS.map(({ name }) => name));
  expect(some.for([{ key: 'a', fact0: 1 }])).toBe(ninth);
  expect(some.for([{ fact7: 1 }])).toBe(eight[7] as string[]);
});

test('beyond the eighth the smallest form that has what is needed is taken before the whole', () => {
  const some = forms();
  const two = some.for([{ fact0: 1, fact1: 1 }]);
  const three = some.for([{ fact0: 1, fact1: 1, fact2: 1 }]);
  for (const last of [3, 4, 5, 6, 7, 8]) some.for([{ fact2: 1, [`fact${last}`]: 1 }]);
  expect(some.for([{ fact1: 1 }])).toBe(two);
  expect(some.for([{ fact2: 1, fact1: 1 }])).toBe(three);
  expect(some.for([{ fact3: 1, fact4: 1 }])).toEqual(PARTS.map(({ name }) => name));
});

test('a form reads no columns of what it does not have', () => {
  const columns = ['id', 'key', 'reply', 'fact0'].map((name) => ({ name }));
  expect(columnsWith(columns, PARTS, (part) => part !== 'claim').map(({ name }) => name)).toEqual([
    'id',
    'fact0',
  ]);
});

test('facts that read each other are needed together, others one by one', () => {
  const factsOf = (kind: Parameters<typeof partsOf>[0]) =>
    partsOf(kind)
      .slice(2)
      .map(({ name }) => name);
  expect(factsOf(domainKind)).toEqual([]);
  expect(factsOf(emailKind)).toEqual(emailKind.facts.map(({ name }) => name));
});
