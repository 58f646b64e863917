import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportReceived } from '../../machines/email/context.ts';
import { afterReport } from '../../machines/email/progress.ts';
import { suppressionOfReport } from '../../machines/email/rules.ts';
import { readDeliveryReport } from '../../src/mail/inbound/delivery-report.ts';
import { reportOf } from '../../src/sending/emails/feedback/verdict.ts';

// The rules for a bounce that is reported later, from the page about the life of an email.

const page = readFileSync(join(import.meta.dir, '../../src/web/docs/texts/life-of-an-email.md'), 'utf8');
const ROW =
  /^\| `(\d{3} )?(\d\.\d\.\d{1,2})`: [^|]+ \| `(\w+)`, `(\w+)` \| `(\w+)` \| (suppressed|gets more mail) \|$/gm;
const rows = [...page.matchAll(ROW)];
const reference = { token: null, emailId: null, providerId: null, messageId: null };

/**
 * The result of a report of a failed delivery with that status and reply, for a live recipient whose mail was
 * accepted.
 */
function recorded(status: string, reply: string | null) {
  const lines = ['Reporting-MTA: dns; relay.example', '', 'Final-Recipient: rfc822; a@b.example'];
  const quoted = reply === null ? [] : [`Diagnostic-Code: smtp; ${reply}`];
  const text = [...lines, 'Action: failed', `Status: ${status}`, ...quoted].join('\n');
  const [feedback] = readDeliveryReport(text, reference);
  if (feedback?.kind !== 'bounced') throw new Error(`${text} is no bounce.`);
  const report = reportOf(feedback);
  if (report === null) throw new Error(`${text} changes nothing.`);
  const received: ReportReceived = { type: 'report.received', at: 0, report: { ...report, recipient: 0 } };
  const [after] = afterReport([{ status: 'sent', lastEvent: 'sent', inDoubt: false } as never], received);
  const { recipients } = suppressionOfReport({ livemode: true } as never, received);
  return [
    report.permanent ? 'Permanent' : 'Transient',
    report.data.subType,
    after?.status,
    recipients.length > 0 ? 'suppressed' : 'gets more mail',
  ];
}

test('the table has rows of both types, and of bounces that do and do not suppress', () => {
  expect(rows.length).toBe(page.split('\n').filter((line) => /^\| `[2-5]/.test(line)).length);
  expect(new Set(rows.map(([, , , type, , , address]) => `${type} ${address}`)).size).toBe(3);
});

for (const [row, code, status = '', ...said] of rows)
  test(row, () => {
    const replies =
      code === undefined
        ? [null, ...(status === '5.0.0' ? [] : [`450 ${status} for now`])]
        : [`${code}${status} says the server`];
    for (const reply of replies) expect([reply, ...recorded(status, reply)]).toEqual([reply, ...said]);
  });
