import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let sink: Sink;
let service: LiveService;
/** The times that the server puts each recipient off. */
let deferrals = 0;
let putOff = 0;

beforeAll(async () => {
  sink = await startSink({
    onRcptTo: (_address, _session, done) => {
      if (putOff >= deferrals) return done();
      putOff += 1;
      done(Object.assign(new Error('4.2.0 Come back later'), { responseCode: 450 }));
    },
  });
  service = await startLiveService({ transport: relayTo(sink.port) });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

/** A second of the service's clock, since neither Date (RFC 5322 3.3) nor t= (RFC 6376 3.5) says more. */
const second = (at: string | number): number => Math.floor(new Date(at).getTime() / 1_000);
const HOUR_MS = 3_600_000;

/** The seconds that the message bears: of its Date field, and of each signature. */
async function seconds(id: string): Promise<{ readonly date: number; readonly signed: readonly number[] }> {
  await service.until(id, ({ status }) => status === 'sent');
  const [head = ''] = (sink.received.find(({ raw }) => raw.includes(id))?.raw.toString() ?? '').split(
    '\r\n\r\n',
  );
  const unfolded = head.replace(/\r\n[ \t]+/g, ' ');
  const date = /^Date: (.*)$/m.exec(unfolded)?.[1] ?? '';
  const signed = [...unfolded.matchAll(/^DKIM-Signature:.*?[; ]t=(\d+)/gm)].map(([, t]) => Number(t));
  expect(signed).toHaveLength(2);
  return { date: second(date), signed };
}

/** Between those moments of the service's clock, and the same everywhere. */
function expectBetween(told: Awaited<ReturnType<typeof seconds>>, from: string, until: string): void {
  expect(told.date).toBeGreaterThanOrEqual(second(from));
  expect(told.date).toBeLessThanOrEqual(second(until));
  expect(told.signed).toEqual([told.date, told.date]);
}

test('Date and t= of an email that leaves at once are the moment of sending', async () => {
  const from = service.today();
  expectBetween(await seconds(await service.send()), from, service.today());
});

test('of a scheduled email they are the moment that was asked for, and not that of its acceptance', async () => {
  const scheduledAt = new Date(new Date(service.today()).getTime() + HOUR_MS).toISOString();
  const id = await service.send({ scheduledAt });
  await service.pass(HOUR_MS);
  expectBetween(await seconds(id), scheduledAt, scheduledAt);
});

test('of an email that was put off they are the moment at which it began to leave, in each attempt', async () => {
  deferrals = putOff + 2;
  const from = service.today();
  const id = await service.send();
  await service.until(id, ({ status }) => status === 'deferred');
  const until = service.today();
  await service.pass(6 * HOUR_MS);
  await eventually('the second attempt', () => putOff === deferrals || undefined);
  await service.until(id, ({ status }) => status === 'deferred');
  await service.pass(6 * HOUR_MS);
  expectBetween(await seconds(id), from, until);
});

test('of a scheduled email that is put off they are the moment that was asked for', async () => {
  const scheduledAt = new Date(new Date(service.today()).getTime() + HOUR_MS).toISOString();
  deferrals = putOff + 1;
  const id = await service.send({ scheduledAt });
  await service.pass(HOUR_MS);
  await service.until(id, ({ status }) => status === 'deferred');
  await service.pass(2 * HOUR_MS);
  expectBetween(await seconds(id), scheduledAt, scheduledAt);
});
