import { afterAll, beforeAll, expect, test } from 'bun:test';
import { archiveWorkspace } from '../../src/accounts/workspace/commands.ts';
import { NotBegun } from '../../src/mail/transport/begin.ts';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { OutboundMessage, Transport } from '../../src/mail/transport/transport.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// From the moment of the answer nothing leaves an archived workspace, and what waited leaves when it is taken
// back.

/** A way out whose connections open when the test says so. */
const way = {
  name: 'smtp',
  confirmsDelivery: true,
  sent: [] as OutboundMessage[],
  asked: 0,
  opened: Promise.resolve(),
  async send(message: OutboundMessage, { begin }: Parameters<Transport['send']>[1]) {
    this.asked += 1;
    await this.opened;
    if ((await begin?.()) === false) throw new NotBegun();
    this.sent.push(message);
    const reply = withoutReply(message.recipients[0] ?? '', 'deferred', 'taken', 'General');
    return [{ ...reply, outcome: 'accepted' as const, fault: null, subType: null }];
  },
  verify: async () => [],
  close: async () => {},
};

let service: LiveService;
let workspaceId: string;

beforeAll(async () => {
  service = await startLiveService({ transport: way as unknown as Transport });
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  workspaceId = row?.id ?? '';
});
afterAll(() => service[Symbol.asyncDispose]());

const archive = () => archiveWorkspace(service.service.database, workspaceId, Date.now());
const takeBack = () => archiveWorkspace(service.service.database, workspaceId, null);
/** Keys of an archived workspace are refused, so its emails are looked at in the table. */
const stateOf = async (id: string) => {
  const [row] = await service.service.database.query<{ state: string }>(
    'select state from emails_now where id = $1',
    [id],
  );
  return row?.state;
};
const until = (id: string, state: string) =>
  eventually(`the email is ${state}`, async () => ((await stateOf(id)) === state ? true : undefined));
const left = () => way.sent.flatMap(({ recipients }) => recipients);

test('a scheduled email of an archived workspace waits, and leaves once that is taken back', async () => {
  const id = await service.send({
    to: 'scheduled@example.com',
    scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  await archive();
  await service.pass(3_700_000);
  await until(id, 'deferred');
  expect(left()).not.toContain('scheduled@example.com');
  await takeBack();
  const { events } = await service.until(id, ({ status }: Email) => status === 'deferred');
  expect(events).toEqual([]);
  await service.pass(3_600_000);
  await service.until(id, ({ status }: Email) => status === 'delivered');
  expect(left()).toContain('scheduled@example.com');
});

test('an email that waits for its connection when the answer comes does not leave', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  way.opened = promise;
  const asked = way.asked;
  const id = await service.send({ to: 'waiting@example.com' });
  await eventually('it waits for its connection', () => (way.asked > asked ? true : undefined));
  await archive();
  resolve();
  await until(id, 'deferred');
  expect(left()).not.toContain('waiting@example.com');
  await takeBack();
  await service.pass(3_600_000);
  await service.until(id, ({ status }: Email) => status === 'delivered');
});

test('a running campaign sends to no one, and goes on afterwards', async () => {
  const audienceId = await manyPeople(service.service.database, workspaceId, 3);
  const { body } = await service.live.post('/v1/campaigns', {
    name: 'News',
    audienceId,
    from: 'News <news@sender.example>',
    subject: 'Hello',
    html: '<p>Hello <a href="{{ preferencesUrl }}">Choose</a></p>',
    ratePerHour: 1,
  });
  const { id } = body.data;
  const sent = () => way.sent.filter(({ subject }) => subject === 'Hello').length;
  expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  await eventually('the first one has left', () => (sent() === 1 ? true : undefined));
  await archive();
  await service.pass(3_700_000);
  // It has asked whether it may go on, and has found that it may not.
  const asks = 'select count(*)::integer as turns from campaign_journal where actor_id = $1';
  const turns = async () =>
    (await service.service.database.query<{ turns: number }>(asks, [id]))[0]?.turns ?? 0;
  const before = await turns();
  await eventually('two more turns', async () => {
    await service.pass(120_000);
    return (await turns()) > before + 1 ? true : undefined;
  });
  expect(sent()).toBe(1);
  await takeBack();
  await eventually('the second one has left', async () => {
    await service.pass(120_000);
    return sent() === 2 ? true : undefined;
  });
});

test('a step of a flow waits, and is done once the workspace is taken back', async () => {
  const flow = await service.live.post('/v1/flows', {
    name: 'Marks',
    steps: [
      { key: 'wait', type: 'delay', config: { amount: 1, unit: 'hours' } },
      { key: 'mark', type: 'updateContact', config: { firstName: 'Marked' } },
    ],
    edges: [{ from: 'wait', to: 'mark' }],
  });
  const { id } = flow.body.data;
  expect((await service.live.post(`/v1/flows/${id}/activate`)).status).toBe(200);
  const contact = await service.live.post('/v1/contacts', { email: 'flow@example.com' });
  const contactId = contact.body.data.id;
  const run = await service.live.post(`/v1/flows/${id}/runs`, { contactId });
  const runId = run.body.data.id;
  await archive();
  await service.pass(3_700_000);
  await eventually('the run is put off', async () => {
    const [row] = await service.service.database.query<{ state: string }>(
      'select state from flow_runs where id = $1',
      [runId],
    );
    return row?.state === 'postponed' ? true : undefined;
  });
  await takeBack();
  expect((await service.live.get(`/v1/contacts/${contactId}`)).body.data.firstName).toBeNull();
  await service.pass(1_000_000);
  await eventually('the contact is marked', async () => {
    const { data } = (await service.live.get(`/v1/contacts/${contactId}`)).body;
    return data.firstName === 'Marked' ? true : undefined;
  });
});
