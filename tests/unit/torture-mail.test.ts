import { expect, test } from 'bun:test';
import type { Session } from '../../src/engine/audit/session.ts';
import { type Invariant, Violations } from '../../src/ops/torture/judge/invariants.ts';
import { judgeMail } from '../../src/ops/torture/judge/judge-mail.ts';
import { MailRecord, recipientsAt } from '../../src/ops/torture/judge/mail-record.ts';

const DOMAIN = 'torture.example';

interface Row {
  id: string;
  messageId: string;
  recipient: string;
  size: number;
  isWhole: boolean;
}

/** Three messages: two that were answered 250, and one that was not and is not there. */
async function violatedBy(forge: (rows: Row[], record: MailRecord) => void): Promise<readonly Invariant[]> {
  const record = new MailRecord();
  const rows: Row[] = [];
  for (const isAcknowledged of [true, true, false]) {
    const mail = record.add(3);
    mail.isAcknowledged = isAcknowledged;
    if (!isAcknowledged) continue;
    for (const recipient of recipientsAt(DOMAIN))
      rows.push({
        id: `rcv_${rows.length}`,
        messageId: `<torture-${mail.number}@sender.example>`,
        recipient,
        size: mail.raw.length,
        isWhole: true,
      });
  }
  forge(rows, record);
  const violations = new Violations();
  const session = { query: async () => rows } as unknown as Session;
  const seen = await judgeMail(session, record, DOMAIN, violations);
  expect(seen.stored).toBe(rows.length);
  return [...violations.counts.keys()];
}

const row = (rows: Row[], at: number): Row => rows[at] as Row;

test.each<[string, readonly Invariant[], Parameters<typeof violatedBy>[0]]>([
  ['nothing', [], () => {}],
  ['a message that is gone for one recipient', ['mailLost'], (rows) => rows.splice(1, 1)],
  ['a message without its content', ['mailLost'], (rows) => Object.assign(row(rows, 0), { isWhole: false })],
  ['a message with fewer octets', ['mailLost'], (rows) => Object.assign(row(rows, 0), { size: 1 })],
  [
    'half of a message that was not answered',
    ['mailLost'],
    (rows, { mails }) =>
      rows.push({
        ...row(rows, 0),
        messageId: '<torture-2@sender.example>',
        size: mails[2]?.raw.length ?? 0,
      }),
  ],
  ['a second copy', ['mailTwice'], (rows) => rows.push({ ...row(rows, 0), id: 'rcv_again' })],
  ['a message of no one', ['mailForeign'], (rows) => rows.push({ ...row(rows, 0), messageId: '<other@x>' })],
  [
    'a refusal for good',
    ['mailRefused'],
    (_, { mails }) => Object.assign(mails[2] as object, { refusal: '550 no' }),
  ],
])('the judge of received mail finds %s', async (_, violated, forge) => {
  expect(await violatedBy(forge)).toEqual(violated);
});
