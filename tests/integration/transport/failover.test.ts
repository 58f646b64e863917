import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { NotBegun } from '../../../src/mail/transport/begin.ts';
import { FailoverTransport } from '../../../src/mail/transport/smtp/failover.ts';
import { FAILURES_TO_OPEN, FIRST_REST_MS } from '../../../src/platform/async/circuit.ts';
import { relayTo } from '../../support/live-service.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { DROP, type Script, SILENCE, startScriptedSmtp } from './scripted-smtp.ts';

const first = await startScriptedSmtp();
const second = await startScriptedSmtp();
afterAll(() => Promise.all([first, second].map((server) => server[Symbol.asyncDispose]())));

let ahead = 0;
let transport: FailoverTransport;
beforeEach(() => {
  for (const server of [first, second]) {
    server.dropAll();
    server.script = {};
    server.connections = 0;
    server.messages.length = 0;
  }
  ahead = 0;
  transport = new FailoverTransport(
    [first, second].map(({ port }, index) => ({ name: `relay-${index}`, transport: relayTo(port, 300) })),
    () => performance.now() + ahead,
  );
});

const LIMITS = { signal: new AbortController().signal, deadlineMs: 30_000 };
const send = async (limits = LIMITS) => (await transport.send(aMessage(), limits))[0];

describe('the first relay has surely not taken it: the second one gets it', () => {
  const faults: Readonly<Record<string, Script>> = {
    '421 instead of a greeting': { greeting: '421 4.3.2 busy' },
    '554 instead of a greeting': { greeting: '554 5.3.2 no' },
    'silence instead of a greeting': { greeting: SILENCE },
    '421 to the sender': { mail: '421 4.3.2 closing' },
    'a hang-up before DATA': { data: DROP },
    'silence at DATA': { data: SILENCE },
    '421 after the final dot': { dot: '421 4.3.2 closing' },
  };
  for (const [name, script] of Object.entries(faults))
    test(name, async () => {
      first.script = script;
      const sent = await send();
      expect(sent).toMatchObject({ outcome: 'accepted', relay: 'relay-1' });
      expect(sent?.passedOver).toEqual([expect.stringMatching(/^relay-0: ./)]);
      expect(second.messages).toHaveLength(1);
    });
});

describe('the first relay may have taken it, or has judged it: the second one is not even connected to', () => {
  const faults: Readonly<Record<string, readonly [Script, string]>> = {
    'a hang-up after the final dot': [{ dot: DROP }, 'unknown'],
    'silence after the final dot': [{ dot: SILENCE }, 'unknown'],
    '450 to the recipient, as grey-listing does': [{ rcpt: '450 4.2.0 later' }, 'deferred'],
    '450 about a host behind the relay': [{ rcpt: '450 4.4.1 no route to its host' }, 'deferred'],
    '451 after the final dot': [{ dot: '451 4.3.0 later' }, 'deferred'],
    '550 to the recipient': [{ rcpt: '550 5.1.1 unknown' }, 'refused'],
  };
  for (const [name, [script, outcome]] of Object.entries(faults))
    test(name, async () => {
      first.script = script;
      expect(await send()).toMatchObject({ outcome, relay: 'relay-0', passedOver: [] });
      expect(second.connections).toBe(0);
    });
});

test('after three failures it is left alone, and tried by one message after the rest', async () => {
  first.script = { greeting: '421 4.3.2 busy' };
  for (let each = 0; each < FAILURES_TO_OPEN + 2; each++) await send();
  expect(first.connections).toBe(FAILURES_TO_OPEN);
  expect((await send())?.passedOver).toEqual([
    expect.stringMatching(/^relay-0: left alone after failures, for \d s more$/),
  ]);
  first.script = {};
  ahead = FIRST_REST_MS;
  expect(await send()).toMatchObject({ outcome: 'accepted', relay: 'relay-0' });
  expect(transport.states.map(({ state }) => state)).toEqual(['closed', 'closed']);
});

test('both are down, and then left alone: deferred each time, and one of them is still asked', async () => {
  first.script = { greeting: '421 4.3.2 busy' };
  second.script = { greeting: '421 4.3.2 busy' };
  for (let each = 0; each < FAILURES_TO_OPEN + 1; each++)
    expect(await send()).toMatchObject({ outcome: 'deferred' });
  expect(transport.states.map(({ state }) => state)).toEqual(['open', 'open']);
  first.script = {};
  expect(await send()).toMatchObject({ outcome: 'accepted', relay: 'relay-0' });
});

test('the attempt may not go on: what the first relay said is the outcome, and the second one is left out', async () => {
  first.script = { greeting: '421 4.3.2 busy' };
  let asked = 0;
  const limits = { ...LIMITS, begin: async () => ++asked === 1 };
  expect(await send(limits)).toMatchObject({ outcome: 'deferred', smtpCode: 421, relay: 'relay-0' });
  expect(second.connections).toBe(0);
  expect(send({ ...LIMITS, begin: async () => false } as typeof LIMITS)).rejects.toBeInstanceOf(NotBegun);
});
