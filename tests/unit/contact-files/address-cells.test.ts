import { expect, test } from 'bun:test';
import { readContactFile, statusesOf } from '../../support/read-contact-file.ts';

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

// The suppression import takes each address of a cell too.
test('a person who has left does so with each address of their cell', async () => {
  const read = await readContactFile(
    [
      'email,status,first_name',
      'ann@example.com ::: two@example.com ::: three@example.com,unsubscribed,Ann',
      'no address ::: ben@example.com,unsubscribed,Ben',
      'cleo@example.com ::: later@example.com,subscribed,Cleo',
      'TWO@example.com,subscribed,Two',
      'dora@example.com ::: cleo@example.com,unsubscribed,Dora',
      '',
    ].join('\n'),
  );
  expect(statusesOf(read)).toEqual({
    'ann@example.com': 'unsubscribed',
    'TWO@example.com': 'unsubscribed',
    'three@example.com': 'unsubscribed',
    'ben@example.com': 'unsubscribed',
    'cleo@example.com': 'unsubscribed',
    'dora@example.com': 'unsubscribed',
  });
  const { contacts, total, refused } = read.batch;
  // A further address is no contact: it leaves, or gets no mail.
  expect(contacts.filter((one) => one.is_refused).map(({ email }) => email)).toEqual([
    'three@example.com',
    'ben@example.com',
  ]);
  expect([total, refused]).toEqual([5, 1]);
  expect(new Set(contacts.map(({ ord }) => ord)).size).toBe(contacts.length);
});
