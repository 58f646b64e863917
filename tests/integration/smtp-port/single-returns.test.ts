import { afterAll, expect, test } from 'bun:test';
import type { Feedback } from '../../../src/mail/inbound/feedback.ts';
import { openInboundSink } from './inbound-sink.ts';

// busybox, nullmailer behind PHP 8 and others end lines with CR CR LF: a fold of a field, the empty line
// behind the header and a boundary would not be found.

const reports: Feedback[] = [];
const left: string[] = [];
const sink = await openInboundSink({
  takesReports: (address) => address.startsWith('b+'),
  onReport: async (feedback) => void reports.push(...feedback),
  doors: [
    {
      takes: (address) => address.startsWith('u+'),
      take: async ({ raw }) => {
        left.push(raw.toString('latin1'));
        return true;
      },
    },
  ],
});
afterAll(() => sink[Symbol.asyncDispose]());

async function send(to: string, lines: readonly string[]): Promise<string> {
  const client = await sink.greeted();
  await client.say('MAIL FROM:<>');
  await client.say(`RCPT TO:<${to}>`);
  await client.say('DATA');
  client.sendOctets(Buffer.from(`${lines.map((line) => `${line}\r\r\n`).join('')}\r\n.\r\n`));
  const [reply = ''] = await client.read();
  client.end();
  return reply;
}

test('a mail to leave a list has single line ends where it ends them with CR CR LF', async () => {
  const to = 'u+token@sender.example';
  expect(await send(to, ['From: ann@reader.example', `To: ${to}`, '', 'bye'])).toStartWith('250');
  expect(left).toEqual([`From: ann@reader.example\r\nTo: ${to}\r\n\r\nbye\r\n\r\n`]);
});

test('a report with such line ends is read', async () => {
  const to = 'b+token@sender.example';
  const report = [
    'From: mailer-daemon@reader.example',
    `To: ${to}`,
    'Content-Type: multipart/report;',
    ' report-type=delivery-status; boundary=b',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.reader.example',
    '',
    'Final-Recipient: rfc822; ann@reader.example',
    'Action: failed',
    'Status: 5.1.1',
    '--b--',
  ];
  expect(await send(to, report)).toStartWith('250');
  expect(reports).toMatchObject([{ kind: 'bounced', recipient: 'ann@reader.example' }]);
});
