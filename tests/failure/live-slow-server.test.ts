import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Script, type ScriptedSmtp, startScriptedSmtp } from '../integration/transport/scripted-smtp.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';

// A server that always answers in the end, so that no silence is ever long enough to give it up: only the
// deadline of the whole attempt does, 4 s after its beginning: the rest of the lease is margin, so that no
// busy machine ever reaches its end.
const LEASE_MS = 64_000;
const MARGIN_MS = 60_000;
const MINUTE = 60_000;

let server: ScriptedSmtp;
let service: LiveService;

beforeAll(async () => {
  server = await startScriptedSmtp();
  service = await startLiveService({
    transport: relayTo(server.port, 60_000),
    limits: { slots: 1, marginMs: MARGIN_MS },
    schedule: { leaseMs: LEASE_MS },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Its state alone: with the long message that one test sends, each answer of the API has 14 MB. */
async function stateOf(id: string): Promise<string | undefined> {
  const [row] = await service.service.database.query<{ state: string }>(
    'select state from emails_now where id = $1',
    [id],
  );
  return row?.state;
}

const readEmail = async (id: string): Promise<Email> =>
  (await service.live.get(`/v1/emails/${id}`)).body.data;

/** Sends while the server is slow; answers the email once its attempt has ended. */
async function sendInto(script: Script, more: object = {}): Promise<Email> {
  server.dropAll();
  server.script = script;
  const id = await service.send(more);
  await eventually(`the end of the attempt of ${id}`, async () =>
    ['queued', 'sending'].includes((await stateOf(id)) ?? 'queued') ? undefined : true,
  );
  const email = await readEmail(id);
  const explained = (await service.live.get(`/v1/emails/${id}/explain`)).body.data;
  const evidence: string = explained.evidence.map(({ text }: Email) => text).join('\n');
  // It said itself how it ended, before its lease could: nothing else can have begun meanwhile.
  expect(evidence).toContain('Attempt 1: ');
  expect(evidence).not.toContain('lost');
  expect(evidence).not.toContain('Attempt 2');
  expect(email.events).toEqual([]);
  return { ...email, evidence };
}

/**
 * Waits until it is sent. On a busy machine even a quick server may be too slow for one attempt, so that
 * another one is due.
 */
const goesOut = (id: string): Promise<Email> =>
  eventually(
    `${id} to be sent`,
    async () => {
      const state = await stateOf(id);
      if (state === 'deferred') await service.pass(10 * MINUTE);
      return state === 'sent' ? readEmail(id) : undefined;
    },
    { everyMs: 200 },
  );

/** There is one slot: it is free again, and what was put off goes out by it a minute, or ten, later. */
async function recovers({ id }: Email, afterMs: number): Promise<void> {
  server.script = {};
  await goesOut(await service.send());
  await service.pass(afterMs);
  await goesOut(id);
}

const commands = (verb: string): number => server.commands.filter((line) => line.startsWith(verb)).length;

describe('a slow mail server defers the email at the deadline of the attempt', () => {
  const slow: Readonly<Record<string, Script>> = {
    'each reply octet by octet': { dripMs: 100 },
    'each reply after a while': { delayMs: 1_500 },
  };
  for (const [name, script] of Object.entries(slow))
    test(name, async () => {
      const email = await sendInto(script);
      expect(email.status).toBe('deferred');
      expect(email.evidence).toContain('put off');
      await recovers(email, MINUTE);
    });

  test('while it takes the message octet by octet', async () => {
    // Longer than what two sockets hold between them.
    const email = await sendInto({ sipMs: 1_000 }, { text: 'A long story.\n'.repeat(1_000_000) });
    expect(email.status).toBe('deferred');
    await recovers(email, MINUTE);
  });
});

test('a slow reply to the final dot leaves the outcome unknown at the deadline of the attempt', async () => {
  // Nothing before it is slow: on a busy machine each octet may take long.
  const script: Script = {
    dot: () => {
      script.dripMs = 1;
      return `250 ${'2.0.0 queued '.repeat(600)}`;
    },
  };
  const email = await sendInto(script);
  expect(email.status).toBe('deferred');
  expect(email.evidence).toContain('no reply after the whole message, so the outcome is unknown');
  server.script = {};
  await service.pass(MINUTE);
  expect((await service.live.get(`/v1/emails/${email.id}`)).body.data.status).toBe('deferred');
  await recovers(email, 9 * MINUTE);
});

test('recipients of one email share the deadline of the attempt', async () => {
  const people = Array.from({ length: 10 }, (_, index) => `slow-${index}@example.com`);
  const before = commands('MAIL');
  const email = await sendInto({ delayMs: 2_500 }, { to: people });
  expect(email.status).toBe('deferred');
  // Four were being served when the time was over; for the others there was none left.
  expect(commands('MAIL') - before).toBeLessThanOrEqual(4);
  server.script = {};
  await service.pass(MINUTE);
  const sent = await goesOut(email.id);
  expect(sent.recipients.map(({ status }: Email) => status)).toEqual(people.map(() => 'sent'));
  await eventually('each copy went once', async () => {
    const copies = server.messages.filter((message) => message.includes(`<${email.id}@`));
    return copies.length === people.length || undefined;
  });
});
