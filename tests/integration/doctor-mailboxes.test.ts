import { afterAll, beforeAll, expect, test } from 'bun:test';
import { diagnoseReceived } from '../../src/ops/doctor/mail/received.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { receiving } from './received-door.ts';

let service: LiveService;

beforeAll(async () => {
  service = await startLiveService({ environment: { HOST: '127.0.0.1' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const CONFIG = {
  host: '127.0.0.1',
  inboundSmtpPort: null,
  smtpTrustProxy: null,
  spamassassinUrl: null,
  rspamdUrl: null,
};
type Topics = Parameters<typeof diagnoseReceived>[0]['sesInboundTopics'];
const found = async (sesInboundTopics: Topics = null): Promise<readonly (readonly string[])[]> => {
  const { database } = service.service;
  const said = await Array.fromAsync(diagnoseReceived({ ...CONFIG, sesInboundTopics }, database));
  return said.map(({ check, status, detail }) => [check, status, detail]);
};

test('the doctor names mailboxes that cannot be read, and those that wait, and changes nothing', async () => {
  expect(await found()).toEqual([]);
  const settings = { host: '127.0.0.1', port: 1, username: 'support', password: 'a secret of theirs' };
  const { id } = (await service.live.post('/v1/mailboxes', settings)).body.data;
  await eventually('it cannot be read', async () =>
    (await service.live.get(`/v1/mailboxes/${id}`)).body.data.status === 'failing' ? true : undefined,
  );
  const { database } = service.service;
  const row = () => database.query('select state, problem, failures, holder from mailboxes');
  await service.live.patch(`/v1/mailboxes/${id}`, { paused: true });
  expect(await found()).toEqual([]);
  await database.query(
    "update mailboxes set is_paused = false, state = 'failing', problem = 'unreachable', next_at = now() + interval '1 day'",
  );
  const before = await row();
  expect(await found()).toEqual([
    ['Mailboxes', 'warning', `1 of 1 mailboxes cannot be read: ${id} at 127.0.0.1 (unreachable).`],
  ]);
  expect(await row()).toEqual(before);
});

test('routes that SES or a mailbox feeds are no warning', async () => {
  const { database } = service.service;
  await receiving(service).exactly('support');
  expect((await found()).map(([check, status]) => [check, status])).toEqual([['Mailboxes', 'warning']]);
  await database.query('delete from mailboxes');
  expect((await found()).map(([check, status]) => [check, status])).toEqual([['Received mail', 'warning']]);
  const topic = { arn: 'arn:aws:sns:eu-west-1:123456789012:inbound', workspaceId: null };
  expect(await found([topic])).toEqual([['Received mail', 'fine', '1 topic of Amazon SES; 1 live route.']]);
  // The retries of SNS are a setting of the subscription, which only its account can read.
  const [said] = await Array.fromAsync(diagnoseReceived({ ...CONFIG, sesInboundTopics: [topic] }, database));
  expect(said?.advice).toContain('delivery policy and a dead-letter queue');
});
