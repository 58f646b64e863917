import { expect, test } from 'bun:test';
import { readContactFile } from '../../support/read-contact-file.ts';

// exceljs writes the link of a cell in place of its text: findings/exceljs-writes-the-link-of-an-address.sh.
test.each([
  ['mailto:ann@example.com', 'ann@example.com'],
  ['MAILTO:ann@example.com', 'ann@example.com'],
  [' mailto:ann@example.com ', 'ann@example.com'],
  ['mailto:ann@example.com ::: mailto:ben@example.com', 'ann@example.com'],
  ["'=mailto@example.com", '=mailto@example.com'],
])('an address in a cell that holds %p is read', async (cell, address) => {
  const { batch } = await readContactFile(`email,first_name\n"${cell}",Ann\n`);
  expect(batch.contacts.map(({ email }) => email)).toEqual([address]);
  expect(batch.faults).toEqual([]);
});
