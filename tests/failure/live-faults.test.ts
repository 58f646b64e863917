import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Transport } from '../../src/mail/transport/transport.ts';
import {
  DROP,
  type Script,
  type ScriptedSmtp,
  SILENCE,
  startScriptedSmtp,
} from '../integration/transport/scripted-smtp.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';

let server: ScriptedSmtp;
let service: LiveService;

beforeAll(async () => {
  server = await startScriptedSmtp();
  // Only a server that is silent by its script is given up soon: a busy machine is silent for a while, too.
  const [patient, hurried] = [relayTo(server.port, 60_000), relayTo(server.port, 500)];
  const chosen = () => (Object.values(server.script).includes(SILENCE) ? hurried : patient);
  const transport: Transport = {
    name: patient.name,
    confirmsDelivery: patient.confirmsDelivery,
    send: (message, limits) => chosen().send(message, limits),
    verify: () => patient.verify(),
    close: async () => void (await Promise.all([patient.close(), hurried.close()])),
  };
  service = await startLiveService({ transport });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const MINUTE = 60_000;
let people = 0;

/** Sends to a new address while the server misbehaves, and answers the email once the attempt has ended. */
async function sendInto(
  script: Script,
  text = 'It is on its way.',
): Promise<{ readonly email: Email; readonly to: string }> {
  server.dropAll();
  server.script = script;
  const to = `person-${++people}@example.com`;
  const id = await service.send({ to, text });
  const email = await service.until(id, ({ status }) => !['queued', 'sending'].includes(status));
  return { email, to };
}

const isSuppressed = async (address: string): Promise<boolean> =>
  (await service.live.get(`/v1/suppressions?address=${encodeURIComponent(address)}`)).body.data.length > 0;

describe('a temporary fault', () => {
  const faults: Readonly<Record<string, Script>> = {
    'a refusal of the connection': { greeting: '554 5.7.1 go away' },
    '421 instead of a greeting': { greeting: '421 4.3.2 too busy' },
    'a hang-up instead of a greeting': { greeting: DROP },
    'silence instead of a greeting': { greeting: SILENCE },
    '421 to EHLO': { ehlo: '421 4.3.2 shutting down' },
    'silence at EHLO': { ehlo: SILENCE },
    '450 to the sender': { mail: '450 4.1.8 later' },
    '421 to the sender': { mail: '421 4.3.2 closing' },
    'a hang-up at the sender': { mail: DROP },
    'silence at the sender': { mail: SILENCE },
    '450 to the recipient, as grey-listing does': { rcpt: '450 4.2.0 greylisted' },
    'a hang-up at the recipient': { rcpt: DROP },
    'silence at the recipient': { rcpt: SILENCE },
    '451 to DATA': { data: '451 4.3.0 later' },
    'a hang-up before DATA': { data: DROP },
    'silence at DATA': { data: SILENCE },
    '450 after the final dot': { dot: '450 4.7.1 try again' },
    '421 after the final dot': { dot: '421 4.3.2 closing' },
  };
  for (const [name, script] of Object.entries(faults))
    test(`${name}: deferred, no event, then sent a minute later`, async () => {
      const { email, to } = await sendInto(script);
      expect([email.status, email.events, email.failureReason]).toEqual(['deferred', [], null]);
      expect(await isSuppressed(to)).toBeFalse();
      const explained = (await service.live.get(`/v1/emails/${email.id}/explain`)).body.data;
      expect(explained.evidence.map(({ text }: Email) => text).join('\n')).toContain(
        `Attempt 1: put off, ${to}: `,
      );
      expect(Date.parse(explained.next.at) - Date.parse(explained.evidence.at(-1).at)).toBe(MINUTE);
      server.script = {};
      await service.pass(MINUTE);
      const sent = await service.until(email.id, ({ status }) => status === 'sent');
      expect(sent.events.map(({ type }: Email) => type)).toEqual(['sent']);
    });
});

describe('a permanent fault', () => {
  const faults: Readonly<Record<string, readonly [Script, string, boolean]>> = {
    '550 of an unknown mailbox': [{ rcpt: '550 5.1.1 no such user' }, 'bounced', true],
    '550 without further words, which proves nothing': [{ rcpt: '550 no' }, 'rejected', false],
    '552 of a full mailbox, which empties again': [{ rcpt: '552 5.2.2 mailbox full' }, 'bounced', false],
    '550 of a blocklist, which is ours to mend': [
      { rcpt: '550 5.7.1 listed by spamhaus' },
      'rejected',
      false,
    ],
    '550 to our sender address': [{ mail: '550 5.1.8 bad sender' }, 'rejected', false],
    '554 to DATA': [{ data: '554 5.6.0 not like this' }, 'rejected', false],
    '550 after the final dot, which judges the message': [
      { dot: '550 5.6.0 looks like spam' },
      'rejected',
      false,
    ],
    '552 after the final dot: too large': [{ dot: '552 5.3.4 too big' }, 'rejected', false],
  };
  for (const [name, [script, reason, suppresses]] of Object.entries(faults))
    test(`${name}: failed as ${reason}, ${suppresses ? 'suppressed' : 'not suppressed'}, never tried again`, async () => {
      const { email, to } = await sendInto(script);
      expect([email.status, email.failureReason]).toEqual(['failed', reason]);
      expect(email.events).toHaveLength(1);
      expect(email.events[0]).toMatchObject({
        type: 'bounced',
        recipient: to,
        data: {
          type: 'Permanent',
          smtpCode: expect.any(Number),
          message: expect.stringMatching(/^55\d/),
          remoteMta: 'sink.test',
        },
      });
      expect(await isSuppressed(to)).toBe(suppresses);
      const before = server.commands.length;
      server.script = {};
      await service.pass(MINUTE);
      expect(server.commands.length).toBe(before);
    });
});

describe('a break after the final dot', () => {
  for (const [name, script] of [
    ['a hang-up', { dot: DROP }],
    ['silence', { dot: SILENCE }],
  ] as const)
    test(`${name}: its outcome is unknown; waited for, told so, and repeated under the same Message-ID`, async () => {
      const { email, to } = await sendInto(script);
      expect([email.status, email.events]).toEqual(['deferred', []]);
      const explained = (await service.live.get(`/v1/emails/${email.id}/explain`)).body.data;
      expect(explained.summary).toContain('the outcome is unknown');
      expect(explained.evidence.map(({ text }: Email) => text).join('\n')).toContain(
        `no reply after the whole message, so the outcome is unknown, ${to}`,
      );
      server.script = {};
      await service.pass(MINUTE);
      expect((await service.live.get(`/v1/emails/${email.id}`)).body.data.status).toBe('deferred');
      await service.pass(9 * MINUTE);
      await service.until(email.id, ({ status }) => status === 'sent');
      const copies = server.messages.filter((message) => message.includes(`Message-ID: <${email.id}@`));
      expect(copies).toHaveLength(2);
      expect(copies[0]).toBe(copies[1] as string);
    });
});

test('no server listens: deferred, and expired after three days of trying', async () => {
  const gone = await startScriptedSmtp();
  await using lonely = await startLiveService({ transport: relayTo(gone.port) });
  await gone[Symbol.asyncDispose]();
  const id = await lonely.send({ to: 'nobody@example.com' });
  await lonely.until(id, ({ status }) => status === 'deferred');
  await lonely.pass(73 * 60 * MINUTE);
  const email = await lonely.until(id, ({ status }) => status === 'failed');
  expect(email.failureReason).toBe('expired');
  expect(email.events).toMatchObject([{ type: 'bounced', data: { type: 'Transient', subType: 'expired' } }]);
  expect((await lonely.live.get('/v1/suppressions')).body.data).toEqual([]);
});

test('one recipient is refused, another deferred: each has its own outcome', async () => {
  server.dropAll();
  server.script = {
    rcpt: (command) =>
      command.includes('bad@')
        ? '550 5.1.1 unknown'
        : command.includes('grey@')
          ? '450 4.2.0 later'
          : '250 ok',
  };
  const id = await service.send({ to: ['good@example.com', 'bad@example.com'], bcc: 'grey@example.com' });
  const email = await service.until(id, ({ status }) => status === 'deferred');
  expect(email.recipients.map(({ address, status }: Email) => [address, status])).toEqual([
    ['good@example.com', 'sent'],
    ['bad@example.com', 'failed'],
    ['grey@example.com', 'pending'],
  ]);
  server.script = {};
  const before = server.messages.length;
  await service.pass(MINUTE);
  await service.until(id, ({ status }) => status === 'sent');
  expect(server.messages.length).toBe(before + 1);
  for (const message of server.messages) expect(message).not.toContain('grey@example.com');
});

test('a hang-up within a message, of which not everything had left: put off', async () => {
  // Longer than what two sockets hold between them: of a shorter one all has left before anybody hangs up.
  const { email, to } = await sendInto({ dropInData: 100 }, 'A long story.\n'.repeat(1_000_000));
  expect([email.status, email.events]).toEqual(['deferred', []]);
  const explained = (await service.live.get(`/v1/emails/${email.id}/explain`)).body.data;
  expect(explained.evidence.at(-1).text).toStartWith(`Attempt 1: put off, ${to}: `);
});
