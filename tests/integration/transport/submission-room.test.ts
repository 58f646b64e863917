import { afterAll, expect, spyOn, test } from 'bun:test';
import { Socket } from 'node:net';
import type { Silence } from '../../../src/mail/inbound/connection.ts';
import { MailRoom, SLOW } from '../../../src/mail/submission/mail-room.ts';
import { eventually } from '../../support/eventually.ts';
import { SmtpClient } from './smtp-client.ts';
import { openSubmissionSink } from './submission-sink.ts';

// The memory of messages at the port, which two of these fill.

const LARGE = 400_000;
let now = 0;
const mailRoom = new MailRoom({ total: 2 * LARGE, each: 2 * LARGE }, () => now);
const { server, submitted, signedIn } = await openSubmissionSink(0, undefined, {}, { mailRoom });
afterAll(() => server.close());

/** A message of which all octets but the last have come, and the reply to them. */
async function begun(workspaceId: string): Promise<readonly [SmtpClient, string | undefined]> {
  const client = await signedIn(workspaceId);
  await client.say('MAIL FROM:<a@sender.example>');
  await client.say('RCPT TO:<b@receiver.example>');
  client.sendOctets(Buffer.from(`BDAT ${LARGE - 1}\r\n${'x'.repeat(LARGE - 1)}`));
  return [client, (await client.read())[0]];
}
const ended = async (client: SmtpClient): Promise<string | undefined> => {
  client.sendOctets(Buffer.from('BDAT 1 LAST\r\nx'));
  return (await client.read())[0];
};

test('a message that comes octet by octet loses its memory to another, and is put off at its end', async () => {
  const [first] = await begun('ws_1');
  now += 1;
  const [second] = await begun('ws_1');
  now += SLOW.ms - 1;
  const [third] = await begun('ws_2');
  expect(await ended(third)).toBe('250 2.0.0 Accepted as em_1');
  expect(await ended(first)).toStartWith('452 4.3.1 ');
  expect(await ended(second)).toBe('250 2.0.0 Accepted as em_1');
  expect(submitted.map(({ raw }) => raw.length)).toEqual([LARGE, LARGE]);
  for (const client of [first, second, third]) client.end();
});

test('a size that has no memory now is put off at MAIL, and taken once it has', async () => {
  const [first] = await begun('ws_1');
  const other = await signedIn('ws_2');
  const mail = async (octets: number): Promise<string | undefined> => {
    const [reply] = await other.say(`MAIL FROM:<a@sender.example> SIZE=${octets}`);
    await other.say('RSET');
    return reply;
  };
  expect(await mail(LARGE + 1)).toStartWith('250 2.1.0 ');
  expect(await mail(LARGE + 2)).toStartWith('452 4.3.1 ');
  expect(await ended(first)).toStartWith('250 2.0.0 ');
  expect(await mail(LARGE + 2)).toStartWith('250 2.1.0 ');
  for (const client of [first, other]) client.end();
});

/** The reply without a command to a client that has signed in or not, where each silence has such a limit. */
async function afterSilence(isSignedIn: boolean, silence: Silence): Promise<string | undefined> {
  const sink = await openSubmissionSink(LARGE, undefined, {}, { silence });
  const client = isSignedIn ? await sink.signedIn() : await SmtpClient.open(sink.server.port);
  const [reply] = await client.read();
  await client.ended;
  client.end();
  await sink.server.close();
  return reply;
}

test('a message that is stored more slowly than silence may last is answered all the same', async () => {
  const armed = spyOn(Socket.prototype, 'setTimeout');
  // Each end of the time without an octet arms it again while the message is worked on.
  const reading = async (): Promise<void> => {
    const before = armed.mock.calls.length;
    await eventually('silence', async () => armed.mock.calls.length > before + 1 || undefined);
  };
  const sink = await openSubmissionSink(
    LARGE,
    reading,
    {},
    { silence: { strangerMs: 3_600_000, clientMs: 200 } },
  );
  const client = await sink.signedIn();
  const lines = ['MAIL FROM:<a@sender.example>', 'RCPT TO:<b@receiver.example>', 'BDAT 12 LAST'];
  client.sendOctets(Buffer.from(`${lines.join('\r\n')}\r\nSubject: x\r\n`));
  const said = [await client.read(), await client.read(), await client.read()];
  expect(said.map(([line]) => line?.slice(0, 9))).toEqual(['250 2.1.0', '250 2.1.5', '250 2.0.0']);
  armed.mockRestore();
  client.end();
  await sink.server.close();
});

test('a client that has signed in has its own time for the next command, five minutes', async () => {
  const ended = '421 4.3.2 Timeout - closing connection';
  expect(await afterSilence(true, { strangerMs: 3_600_000, clientMs: 200 })).toBe(ended);
  expect(await afterSilence(false, { strangerMs: 200, clientMs: 3_600_000 })).toBe(ended);
  const armed = spyOn(Socket.prototype, 'setTimeout');
  const client = await signedIn();
  const times = armed.mock.calls.map(([ms]) => ms);
  armed.mockRestore();
  client.end();
  expect(times).toEqual([60_000, 300_000]);
});
