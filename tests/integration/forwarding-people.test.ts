import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { aMail, handIn, receiving } from './received-door.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let sink: Sink;
let service: LiveService;
let port: number;

beforeAll(async () => {
  sink = await startSink();
  port = await freePort();
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { INBOUND_SMTP_PORT: String(port) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

describe('a person whom a forwarded message names', () => {
  const forgottenIn = async (place: string, fields: Record<string, string>) => {
    const address = `${place}@named.example`;
    const route = await receiving(service).exactly(`named-${place}`, {
      action: { type: 'forward', to: ['team@sender.example'] },
    });
    await service.live.post('/v1/contacts', { email: address });
    const raw = aMail({ From: 'Bo <bo@customer.example>', Subject: `About ${place}`, ...fields });
    const replies = await handIn(port, 'bo@customer.example', [`named-${place}@sender.example`], raw);
    expect(replies.at(-1)).toStartWith('250 ');
    const id = await eventually('the copy', async () => {
      const [item] = await receiving(service).receivedBy(route.id);
      const found = item && (await receiving(service).detail(item.id));
      return found?.forward?.status === 'sent' ? found.id : undefined;
    });
    expect((await service.live.delete(`/v1/received/${id}`)).status).toBe(204);
    const naming = (): Promise<readonly object[]> =>
      service.service.database.query(
        `select id from emails e where row_to_json(e)::text ~ '${address}|About ${place}'`,
      );
    expect(await naming()).toHaveLength(1);
    await service.live.delete(`/v1/contacts/${address}`);
    await eventually('the erasure', async () => ((await naming()).length === 0 ? true : undefined));
  };

  test('in Cc alone is in no email any more once they are forgotten', () =>
    forgottenIn('copied', { Cc: 'Someone <COPIED@named.example>' }));

  test('beside two hundred others is in no email any more either', () =>
    forgottenIn('crowd', {
      To: [...Array.from({ length: 250 }, (_, at) => `p${at}@named.example`), 'crowd@named.example'].join(
        ',\r\n ',
      ),
    }));
});

test('targets who leave while a forward is put off get nothing of it, and the others do', async () => {
  let isBusy = true;
  const busy: string[] = [];
  await using slow = await startSink({
    onRcptTo: ({ address }, _session, done) => {
      if (isBusy) busy.push(address);
      done(isBusy ? Object.assign(new Error('4.3.1 Busy'), { responseCode: 451 }) : null);
    },
  });
  const at = await freePort();
  await using late = await startLiveService({
    transport: relayTo(slow.port),
    environment: { INBOUND_SMTP_PORT: String(at) },
  });
  const made = await late.live.post('/v1/domains', { name: 'leaves.example' });
  const to = ['bob@leaves.example', 'team@sender.example'];
  await receiving(late).exactly('leaves', { action: { type: 'forward', to } });
  const replies = await handIn(at, 'x@customer.example', ['leaves@sender.example'], aMail());
  expect(replies.at(-1)).toStartWith('250 ');
  await eventually('both are put off', async () => (busy.length >= 2 ? true : undefined));
  expect((await late.live.delete(`/v1/domains/${made.body.data.id}`)).status).toBe(204);
  isBusy = false;
  const fate = async (): Promise<Email> => {
    const [item] = (await late.live.get('/v1/received')).body.data;
    return (await late.live.get(`/v1/received/${item.id}`)).body.data.forward;
  };
  const end = await eventually('the end', async () => {
    const found = await fate();
    if (found?.recipients.every(({ status }: Email) => status !== 'pending')) return found;
    await late.pass(10 * 60_000);
    return undefined;
  });
  expect(end.recipients).toEqual([
    { address: 'bob@leaves.example', status: 'failed' },
    { address: 'team@sender.example', status: 'sent' },
  ]);
  expect(slow.received.flatMap((copy) => copy.to)).toEqual(['team@sender.example']);
});
