import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { Readable } from 'node:stream';
import { createTransport } from 'nodemailer';
import type { Feedback } from '../../../src/transport/inbound/feedback.ts';
import { openReportDoor } from '../../../src/transport/inbound/report-door.ts';
import { tokenOf } from '../../../src/transport/inbound/verp.ts';
import { RelayTransport } from '../../../src/transport/smtp/relay.ts';
import { openSession } from '../../../src/transport/smtp/session.ts';
import { eventually } from '../../support/eventually.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { dsn, POSTFIX } from '../../unit/transport/reports.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from './certificates.ts';
import { postfixMissing, startPostfix } from './postfix.ts';
import { startScriptedSmtp } from './scripted-smtp.ts';

let reports: (readonly Feedback[])[] = [];
let onReport = async (_: readonly Feedback[]) => {};
const door = await openReportDoor({
  host: '127.0.0.1',
  port: 0,
  name: 'relay.test',
  tls: { cert: CERTIFICATE, key: PRIVATE_KEY },
  accepts: (address) => tokenOf(address) !== null || address === 'complaints@sender.example',
  onReport: async (feedback) => {
    await onReport(feedback);
    reports.push(feedback);
  },
  onTrouble: () => {},
});
afterAll(() => door.close());
beforeEach(() => {
  reports = [];
  onReport = async () => {};
});

const endpoint = {
  host: '127.0.0.1',
  port: door.port,
  name: 'relay.test',
  tls: 'opportunistic',
  verifyCertificate: true,
  ca: AUTHORITY,
  ehloName: 'mx.receiver.example',
  credentials: null,
  connectMs: 5_000,
  silenceMs: 20_000,
} as const;

/** What the door says to a mail for these addresses. */
const deliver = async (raw: Buffer, ...recipients: string[]) => {
  const { signal } = new AbortController();
  const session = await openSession(endpoint, signal);
  const progress = await session.transmit({ from: '', recipients }, raw, signal);
  session.quit();
  return progress.map(({ step, reply }) => `${step} ${reply}`);
};

const BOUNCE = 'b+token-1@bounces.sender.example';

test('a bounce over TLS is taken in', async () => {
  expect(await deliver(dsn({ status: POSTFIX }), BOUNCE)).toEqual(['DOT 250 2.0.0 Thank you']);
  expect(reports).toMatchObject([[{ kind: 'bounced', reference: { token: 'token-1' } }]]);
});

test('mail for anyone else is refused: this is no relay', async () => {
  expect(await deliver(dsn({ status: POSTFIX }), 'someone@elsewhere.example', BOUNCE)).toEqual([
    'RCPT 550 5.1.1 No such mailbox here',
    'DOT 250 2.0.0 Thank you',
  ]);
});

test('what is no report is taken and forgotten', async () => {
  expect(await deliver(Buffer.from('Subject: Out of office\r\n\r\nBack on Monday.\r\n'), BOUNCE)).toEqual([
    'DOT 250 2.0.0 Thank you',
  ]);
  expect(reports).toEqual([]);
});

test('a report that cannot be kept is asked for again', async () => {
  onReport = () => Promise.reject(new Error('no database'));
  expect(await deliver(dsn({ status: POSTFIX }), BOUNCE)).toEqual([
    'DOT 451 4.3.0 Cannot take this now, please try again',
  ]);
  expect(reports).toEqual([]);
});

test('a report that is too large is refused, announced or not', async () => {
  const huge = Buffer.concat([dsn({ status: POSTFIX }), Buffer.alloc(34_000_000, `${'x'.repeat(70)}\r\n`)]);
  expect(await deliver(huge, BOUNCE)).toEqual([expect.stringContaining('MAIL 552')]);
  expect(await deliverUnannounced(huge)).toBe('552 5.3.4 The message is too large');
  expect(reports).toEqual([]);
});

/** Without SIZE, as a client may. */
const deliverUnannounced = (raw: Buffer) => {
  const client = createTransport({ host: '127.0.0.1', port: door.port, ignoreTLS: true });
  return client.sendMail({ raw: Readable.from([raw]), envelope: { from: '', to: [BOUNCE] } }).then(
    ({ response }) => response,
    ({ response }: { response: string }) => response,
  );
};

const reason = postfixMissing();
if (reason !== null) console.log(`Not shown here, since ${reason}: the bounce of a real Postfix.`);

describe.if(reason === null)('the bounce of a real Postfix', () => {
  test(
    'finds its way back by the VERP address',
    async () => {
      await using refusing = await startScriptedSmtp({ rcpt: '550 5.1.1 No such user' });
      await using postfix = await startPostfix({ relaysTo: refusing.port, bouncesTo: door.port });
      const relay = new RelayTransport({ ...endpoint, port: postfix.port, tls: 'none' });
      const [outcome] = await relay.send(
        aMessage({ recipients: ['gone+1@elsewhere.test'], returnPath: 'b+token-9@bounces.sender.example' }),
        {
          signal: new AbortController().signal,
          deadlineMs: 20_000,
        },
      );
      await relay.close();
      expect(outcome?.outcome).toBe('accepted');
      await eventually('the bounce came', async () => reports[0], { withinMs: 30_000 });
      expect(reports).toMatchObject([
        [
          {
            kind: 'bounced',
            permanent: true,
            fault: 'recipient',
            subType: 'NoEmail',
            enhancedCode: '5.1.1',
            suppresses: true,
            recipient: 'gone+1@elsewhere.test',
            reference: { token: 'token-9', messageId: aMessage().messageId },
          },
        ],
      ]);
    },
    { timeout: 60_000 },
  );
});
