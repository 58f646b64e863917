import { afterAll, describe, expect, test } from 'bun:test';
import type { AskedReports } from '../../../src/mail/message/asked-reports.ts';
import type { OutboundMessage } from '../../../src/mail/transport/transport.ts';
import { relayTo } from '../../support/live-service.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { startSink } from './smtp-sink.ts';

const HIDDEN = { hideDSN: true, hide8BITMIME: true, hideSMTPUTF8: true };
const sinks = {
  all: await startSink({ ...HIDDEN, hideDSN: false, hide8BITMIME: false, hideSMTPUTF8: false }),
  withoutDsn: await startSink({ ...HIDDEN, hide8BITMIME: false, hideSMTPUTF8: false }),
  withoutEightBit: await startSink({ ...HIDDEN, hideDSN: false }),
  withoutUtf8: await startSink({ ...HIDDEN, hide8BITMIME: false }),
};
afterAll(() => Promise.all(Object.values(sinks).map((sink) => sink[Symbol.asyncDispose]())));

const LIMITS = { signal: new AbortController().signal, deadlineMs: 120_000 };
const send = async (to: keyof typeof sinks, changes: Partial<OutboundMessage>) => {
  const before = sinks[to].received.length;
  const transport = relayTo(sinks[to].port);
  const [outcome] = await transport.send(aMessage(changes), LIMITS);
  await transport.close();
  return { outcome, received: sinks[to].received[before] };
};

const NOTHING: AskedReports = { returned: null, envelopeId: null, notify: null, originalRecipient: null };

/** Requests for reports, with their parameters of MAIL and RCPT. */
const ASKED: readonly (readonly [Partial<AskedReports>, readonly [string, string]])[] = [
  [{}, ['', '']],
  [{ notify: [] }, ['', 'NOTIFY=NEVER']],
  [{ notify: ['SUCCESS'] }, ['', 'NOTIFY=SUCCESS']],
  [{ notify: ['SUCCESS', 'FAILURE', 'DELAY'] }, ['', 'NOTIFY=SUCCESS,FAILURE,DELAY']],
  [{ returned: 'HDRS' }, ['RET=HDRS', '']],
  [{ returned: 'FULL', envelopeId: 'a+b=c d' }, ['ENVID=a+b=c d RET=FULL', '']],
  [
    { originalRecipient: 'rfc822;b+x@receiver.example', notify: ['DELAY'] },
    ['', 'NOTIFY=DELAY ORCPT=rfc822;b+x@receiver.example'],
  ],
];

describe('what a sender asks of reports', () => {
  for (const [asked, parameters] of ASKED)
    test(`is asked of a server that speaks DSN: ${JSON.stringify(asked)}`, async () => {
      const { outcome, received } = await send('all', { reports: { ...NOTHING, ...asked } });
      expect(outcome?.outcome).toBe('accepted');
      expect(received?.parameters).toEqual([...parameters]);
      expect(outcome?.isUnreported).toBeUndefined();
    });

  for (const [asked] of ASKED)
    test(`is not asked of one that does not: ${JSON.stringify(asked)}`, async () => {
      const { outcome, received } = await send('withoutDsn', { reports: { ...NOTHING, ...asked } });
      expect(received?.parameters).toEqual(['', '']);
      expect(outcome?.isUnreported).toBe(asked.notify?.includes('SUCCESS') ? true : undefined);
    });

  test('nothing: as ever', async () => {
    expect((await send('all', {})).received?.parameters).toEqual(['', '']);
  });
});

test('a null sender stays null', async () => {
  const { outcome, received } = await send('all', { returnPath: '' });
  expect(outcome?.outcome).toBe('accepted');
  expect(received?.from).toBe('');
});

describe('a message that needs an extension', () => {
  const written = { composed: Buffer.from('Subject: x\r\n\r\nGr\xfc\xdfe\r\n', 'latin1'), signatures: null };
  const hidden = [{ name: null, address: 'zoë@receiver.example' }];

  test('says so: 8BITMIME by its octets, SMTPUTF8 by its addresses, also by one of the header alone', async () => {
    expect((await send('all', { written })).received?.parameters).toEqual(['BODY=8BITMIME', '']);
    expect((await send('all', { cc: hidden })).received?.parameters).toEqual(['BODY=8BITMIME SMTPUTF8', '']);
    const toZoe = { to: hidden, recipients: ['zoë@receiver.example'] };
    expect((await send('all', toZoe)).received?.parameters).toEqual(['BODY=8BITMIME SMTPUTF8', '']);
    expect((await send('all', {})).received?.parameters).toEqual(['', '']);
  });

  test('becomes quoted-printable for a server without 8BITMIME', async () => {
    const { outcome, received } = await send('withoutEightBit', { written });
    expect(outcome?.outcome).toBe('accepted');
    expect(received?.parameters).toEqual(['', '']);
    expect(received?.raw.toString('latin1')).toBe(
      'Subject: x\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n',
    );
  });

  const inHeader = { composed: Buffer.from('Subject: \xfc\r\n\r\nx\r\n', 'latin1'), signatures: null };
  for (const [to, changes, status] of [
    ['withoutEightBit', { written: inHeader }, '5.6.3'],
    // Another form would break its seal and the signature of its author.
    ['withoutEightBit', { written: { ...written, isForwarded: true as const } }, '5.6.3'],
    ['withoutUtf8', { cc: hidden }, '5.6.7'],
  ] as const)
    test(`is refused with ${status} by ourselves where the server lacks it`, async () => {
      const { outcome, received } = await send(to, changes);
      expect(received).toBeUndefined();
      expect(outcome).toMatchObject({ outcome: 'refused', enhancedCode: status });
      expect(outcome?.fault).not.toBe('recipient');
    });
});

test('a large message whose octets lie in two places arrives as they are, however they are cut', async () => {
  const line = `..a${'b'.repeat(71)}\r\n.\r\n`;
  for (const octets of [65_536, 65_537, 131_072 - 60, 400_000]) {
    const composed = Buffer.from('From: a@sender.example\r\nSubject: Large\r\n');
    const behind = Buffer.from(`\r\n${line.repeat(Math.ceil(octets / line.length))}end\r\n`);
    const { outcome, received } = await send('all', { written: { composed, behind, signatures: null } });
    expect(outcome?.outcome).toBe('accepted');
    expect(received?.raw.equals(Buffer.concat([composed, behind]))).toBe(true);
  }
});
