import { expect, test } from 'bun:test';
import type { Session } from '../../src/engine/audit/session.ts';
import { Violations } from '../../src/ops/torture/judge/invariants.ts';
import { judgeMail } from '../../src/ops/torture/judge/judge-mail.ts';
import { MailRecord, recipientsAt } from '../../src/ops/torture/judge/mail-record.ts';

// The judge of received mail on forged ledgers: each of its checks can fail.

const DOMAIN = 'torture.example';
const [FIRST = '', SECOND = ''] = recipientsAt(DOMAIN);

interface Row {
  readonly id: string;
  readonly messageId: string;
  readonly recipient: string;
  readonly size: number;
  readonly isWhole: boolean;
}

/** The violations of a ledger: a message for two recipients, with these rows, and its answer. */
async function violated(
  rowsOf: (row: Row) => readonly Row[],
  answer: { readonly isAcknowledged?: boolean; readonly refusal?: string } = { isAcknowledged: true },
): Promise<readonly string[]> {
  const record = new MailRecord();
  const mail = record.add(3);
  Object.assign(mail, answer);
  const size = mail.raw.length;
  const row = { id: 'rcv_1', messageId: '<torture-0@sender.example>', recipient: FIRST, size, isWhole: true };
  const rows = rowsOf(row);
  const session = { query: async () => rows } as unknown as Session;
  const violations = new Violations();
  await judgeMail(session, record, DOMAIN, violations);
  return [...violations.counts.keys()];
}

const both = (row: Row): readonly Row[] => [row, { ...row, id: 'rcv_2', recipient: SECOND }];

test('received mail that is there once for each recipient violates nothing, answered or not', async () => {
  expect(await violated(both)).toEqual([]);
  expect(await violated(both, {})).toEqual([]);
  expect(await violated(() => [], {})).toEqual([]);
});

test.each([
  ['mailTwice', 'is there twice', (row: Row) => [...both(row), { ...row, id: 'rcv_3' }], undefined],
  ['mailLost', 'was answered 250 and is not there', () => [], undefined],
  ['mailLost', 'was answered 250 and is there for one recipient', (row: Row) => [row], undefined],
  ['mailLost', 'was not answered and is there for one recipient', (row: Row) => [row], {}],
  ['mailLost', 'has fewer octets', (row: Row) => both({ ...row, size: row.size - 1 }), undefined],
  ['mailLost', 'has no content', (row: Row) => both({ ...row, isWhole: false }), undefined],
  [
    'mailForeign',
    'was never handed in',
    (row: Row) => [...both(row), { ...row, messageId: '<other@x>' }],
    undefined,
  ],
  ['mailRefused', 'was refused for good', () => [], { refusal: '550 5.1.1 No such mailbox here' }],
] as const)('%s: a message that %s is a violation', async (invariant, _, rowsOf, answer) => {
  expect(await violated(rowsOf, answer)).toEqual([invariant]);
});
