import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Transport } from '../../src/mail/transport/transport.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { DROP, SILENCE, startScriptedSmtp } from './transport/scripted-smtp.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let sink: Sink;
let service: LiveService;

beforeAll(async () => {
  sink = await startSink();
  service = await startLiveService({ transport: relayTo(sink.port) });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

test('a live email is sent signed, with its own return path', async () => {
  const id = await service.send({ html: '<p>It is on its way.</p>' });
  const email = await service.until(id, ({ status }) => status === 'sent');
  const received = sink.received.find(({ raw }) => raw.includes(id));
  expect(received?.to).toEqual(['ada@example.com']);
  expect(received?.from).toMatch(
    new RegExp(`^b\\+${id.slice(3)}\\.0\\.[0-9a-z]{16}@send\\.sender\\.example$`),
  );
  const signatures = received?.raw.toString().match(/^DKIM-Signature: .*?; a=[\w-]+/gm) ?? [];
  expect(signatures.map((one) => /a=(.*)/.exec(one)?.[1]).sort()).toEqual(['ed25519-sha256', 'rsa-sha256']);
  expect(received?.raw.toString()).toContain(`Message-ID: <${id}@sender.example>`);
  expect(email.events).toMatchObject([
    {
      type: 'sent',
      recipient: 'ada@example.com',
      livemode: true,
      data: {
        provider: 'smtp',
        messageId: `<${id}@sender.example>`,
        response: expect.stringMatching(/^250 /),
      },
    },
  ]);
  expect(email.recipients).toEqual([
    { address: 'ada@example.com', kind: 'to', status: 'sent', lastEvent: 'sent' },
  ]);
});

test('a large live email is read when its turn comes, and arrives whole', async () => {
  const content = Buffer.alloc(300_000, 'posthorn').toString('base64');
  const id = await service.send({ attachments: [{ filename: 'a.bin', content, contentType: 'image/png' }] });
  await service.until(id, ({ status }) => status === 'sent');
  const received = sink.received.find(({ raw }) => raw.includes(id));
  expect(received?.raw.toString().replaceAll('\r\n', '')).toContain(content);
});

test('a server reply with octets that PostgreSQL refuses is recorded once', async () => {
  await using odd = await startScriptedSmtp({ dot: `250 2.0.0 Ok \0 ${'x'.repeat(980)}` });
  await using service = await startLiveService({ transport: relayTo(odd.port) });
  const id = await service.send();
  const email = await service.until(id, ({ status }) => status === 'sent');
  expect(email.events[0].data.response).toStartWith('250 2.0.0 Ok \uFFFD x');
  expect(odd.messages).toHaveLength(1);
});

test('every recipient gets a separate copy with its own return path, and sees no blind one', async () => {
  const to = Array.from({ length: 10 }, (_, n) => `many-${n}@example.com`);
  const id = await service.send({ to, bcc: 'blind@example.com' });
  await service.until(id, ({ status }) => status === 'sent');
  const copies = sink.received.filter(({ raw }) => raw.includes(id));
  expect(copies.flatMap((copy) => copy.to).sort()).toEqual([...to, 'blind@example.com'].sort());
  expect(new Set(copies.map(({ from }) => from)).size).toBe(11);
  for (const { raw } of copies) expect(raw.includes('blind@example.com')).toBeFalse();
});

test('an email for which there is no slot waits as queued, for as long as it takes, without a doubt', async () => {
  await using silent = await startScriptedSmtp();
  // The first connection waits for its greeting, and later ones are served.
  const greeting = () => (silent.connections === 1 ? SILENCE : '220 scripted.test ESMTP');
  silent.script = { greeting };
  // The lease of the attempt that holds the slot is over several times while the other one waits.
  await using busy = await startLiveService({
    transport: relayTo(silent.port, 60_000),
    limits: { slots: 1, marginMs: 500 },
    schedule: { leaseMs: 1_500, holdsDoubt: true },
  });
  const first = await busy.send({ to: 'first@example.com' });
  const second = await busy.send({ to: 'second@example.com' });
  await busy.until(first, ({ status }) => status === 'deferred');
  await busy.until(second, ({ status }) => status === 'sent');
  const evidenceOf = async (id: string): Promise<Email[]> =>
    (await busy.live.get(`/v1/emails/${id}/explain`)).body.data.evidence;
  const [held, waited] = [await evidenceOf(first), await evidenceOf(second)];
  expect(waited.map(({ text }) => text).join('\n')).not.toMatch(/lost|outcome is unknown|Attempt 2/);
  const endOf = (evidence: Email[]): number => new Date(evidence.at(-1).at).getTime();
  expect(endOf(waited)).toBeGreaterThanOrEqual(endOf(held));
  const [begin] = await busy.service.database.query<{ state: string }>(
    `select s ->> 'to' as state from email_journal j, json_array_elements(j.steps) s
     where j.actor_id = $1 order by j.revision limit 1`,
    [second],
  );
  expect(begin?.state).toBe('queued');
  expect(silent.messages).toHaveLength(1);
});

test('UNKNOWN_OUTCOME=hold waits for a report, which settles the email', async () => {
  await using vague = await startScriptedSmtp({ dot: DROP });
  const transport = relayTo(vague.port);
  await using service = await startLiveService({ transport, environment: { UNKNOWN_OUTCOME: 'hold' } });
  const id = await service.send({ trackOpens: true, html: '<p>Hello</p>' });
  await service.until(id, ({ status }) => status === 'deferred');
  const { next, summary } = (await service.live.get(`/v1/emails/${id}/explain`)).body.data;
  expect(summary).toStartWith('It is unknown whether it arrived');
  expect(next.text).toBe('A report comes in, or it fails as expired.');
  vague.script = {};
  await service.pass(3_600_000);
  expect(vague.messages).toHaveLength(1);
  const unfolded = (vague.messages[0] ?? '').replace(/=\r\n/g, '');
  await fetch(`${service.url}${/\/t\/o\/[\w.-]+/.exec(unfolded)?.[0]}`);
  const email = await service.until(id, ({ status }) => status === 'sent');
  expect(email.events.map(({ type }: Email) => type)).toEqual(['sent', 'opened']);
});

test('an error in one copy of a live email leaves the others unaffected', async () => {
  const accepted = { outcome: 'accepted', response: '250 ok', smtpCode: 250, enhancedCode: null } as const;
  const transport: Transport = {
    name: 'smtp',
    confirmsDelivery: false,
    async send({ recipients: [recipient = ''] }) {
      if (recipient.startsWith('broken')) throw new TypeError('undefined is not a function');
      return [{ ...accepted, recipient, remoteMta: null, fault: null, subType: null, providerId: null }];
    },
    verify: async () => [],
    close: async () => {},
  };
  await using service = await startLiveService({ transport });
  const id = await service.send({ to: ['fine@example.com', 'broken@example.com'] });
  const email = await service.until(id, ({ status }) => status === 'deferred');
  expect(email.recipients.map(({ status }: Email) => status)).toEqual(['sent', 'pending']);
  expect(service.logged()).toContain('A transport failed.');
  expect(service.logged()).not.toContain('broken@example.com');
});
