import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { startSes } from '../support/ses.ts';
import { zoneOf } from './domains/a-workspace.ts';
import { startNameServer, type TestNameServer } from './transport/name-server.ts';
import { DROP, type ScriptedSmtp, startScriptedSmtp } from './transport/scripted-smtp.ts';

// The order of transports that a domain has chosen.

let dns: TestNameServer;
let relay: ScriptedSmtp;
let ses: ReturnType<typeof startSes>;
let service: LiveService;

beforeAll(async () => {
  dns = await startNameServer();
  relay = await startScriptedSmtp();
  ses = startSes();
  service = await startLiveService({
    atNoon: true,
    environment: {
      TRANSPORT: 'capture,smtp,ses',
      SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
      SES_REGION: 'eu-west-1',
      SES_ENDPOINT: ses.endpoint,
      AWS_ACCESS_KEY_ID: 'AK',
      AWS_SECRET_ACCESS_KEY: 'SK',
      DNS_SERVERS: `127.0.0.1:${dns.server.port}`,
      UNKNOWN_OUTCOME: 'hold',
    },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await ses.stop();
  await relay[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});
beforeEach(() => {
  relay.script = {};
  ses.fail(null);
});

const patch = (body: object) => service.live.patch(`/v1/domains/${service.domainId}`, body);

/** Chooses an order, and has the records seen that it asks for. */
async function goBy(provider: string, fallbacks: readonly string[]): Promise<Email> {
  const { status, body } = await patch({ provider, fallbacks });
  expect([status, body.data?.provider, body.data?.fallbacks]).toEqual([200, provider, fallbacks]);
  dns.zone = zoneOf(body.data.dnsRecords);
  return eventually('the records seen', async () => {
    const { data } = (await service.live.post(`/v1/domains/${service.domainId}/verify`)).body;
    return data.status === 'verified' ? data : undefined;
  });
}

const sesHas = (id: string) =>
  ses.calls.filter(({ body }) => JSON.stringify(body?.EmailTags ?? '').includes(id)).length;
const relayHas = (id: string) => relay.messages.filter((message) => message.includes(id)).length;
/** The rows of an email in the database. */
const life = async (id: string): Promise<Email> => {
  const [row] = await service.service.database.query<Email>(
    'select state as status, context from emails_now where id = $1',
    [id],
  );
  return row;
};
const sentOf = ({ events }: Email) => events.find(({ type }: Email) => type === 'sent').data;

test('SES takes over while the relay is down, in the same attempt, and the email says so', async () => {
  const domain = await goBy('smtp', ['ses']);
  expect(domain.dnsRecords.map(({ purpose }: Email) => purpose)).toContain('spf');
  relay.script = { mail: '421 4.3.2 closing' };
  const id = await service.send();
  const email = await service.until(id, ({ status }) => status === 'sent');
  expect(sentOf(email)).toMatchObject({
    provider: 'ses',
    passedOver: [expect.stringMatching(/^smtp: .*closing/)],
  });
  expect([sesHas(id), relayHas(id)]).toEqual([1, 0]);
  const { evidence } = (await service.live.get(`/v1/emails/${id}/explain`)).body.data;
  expect(evidence.map(({ text }: Email) => text).join('\n')).toMatch(/passed over smtp: .*closing/);
});

test('what the relay may have taken stays in doubt: SES does not get it', async () => {
  relay.script = { dot: DROP };
  const id = await service.send();
  await service.until(id, ({ status }) => status === 'deferred');
  expect([sesHas(id), relayHas(id)]).toEqual([0, 1]);
});

test('the relay takes over while SES is throttled', async () => {
  const domain = await goBy('ses', ['smtp']);
  expect(domain.dnsRecords.map(({ purpose }: Email) => purpose)).toContain('mx');
  ses.fail([429, 'TooManyRequestsException']);
  const id = await service.send();
  const email = await service.until(id, ({ status }) => status === 'sent');
  expect(sentOf(email)).toMatchObject({
    provider: 'smtp',
    passedOver: [expect.stringContaining('ses: TooMany')],
  });
  expect(relayHas(id)).toBe(1);
});

test('only orders that can be are taken, and the refusal names the reason', async () => {
  const before = (await service.live.get(`/v1/domains/${service.domainId}`)).body.data;
  const unknownHere = 'Choose from the enabled transports that send mail: smtp, ses.';
  const twice = (name: string) => `Name each transport once; ${name} already has an earlier place.`;
  const afterCapture = 'No transport can come after capture, which is never down as a whole.';
  // Each refusal by the places that it is about.
  const refused: readonly (readonly [object, Record<number, string>])[] = [
    [{ fallbacks: ['direct'] }, { 0: unknownHere }],
    [{ fallbacks: ['capture'] }, { 0: unknownHere }],
    [{ provider: 'smtp', fallbacks: ['ses', 'ses'] }, { 1: twice('ses') }],
    [
      { provider: 'smtp', fallbacks: ['smtp', 'ses', 'direct'] },
      { 0: twice('smtp'), 2: unknownHere },
    ],
    [{ fallbacks: ['ses'] }, { 0: twice('ses') }],
    [
      { provider: null, fallbacks: ['ses', 'smtp'] },
      { 0: afterCapture, 1: afterCapture },
    ],
  ];
  for (const [body, places] of refused)
    for (const told of [
      await patch(body),
      await service.live.post('/v1/domains', { name: 'other.example', provider: 'ses', ...body }),
    ]) {
      expect([told.status, told.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
      expect(told.body.error.details).toEqual(
        Object.entries(places).map(([at, message]) => ({ path: `/body/fallbacks/${at}`, message })),
      );
    }
  const four = await patch({ fallbacks: ['smtp', 'ses', 'smtp', 'ses'] });
  expect([four.status, four.body.error.details[0].path]).toEqual([422, '/body/fallbacks']);
  const { data } = (await service.live.get(`/v1/domains/${service.domainId}`)).body;
  expect([data.provider, data.fallbacks]).toEqual([before.provider, before.fallbacks]);
});

test('an order is given with a new domain; what a change leaves out stays, also beside another change', async () => {
  const { body } = await service.live.post('/v1/domains', {
    name: 'ordered.example',
    provider: 'smtp',
    fallbacks: ['ses'],
  });
  expect(body.data).toMatchObject({ provider: 'smtp', fallbacks: ['ses'] });
  const path = `/v1/domains/${body.data.id}`;
  // The transport that comes first now is left out of those that were chosen to follow.
  expect((await service.live.patch(path, { provider: 'ses' })).body.data.fallbacks).toEqual([]);
  await Promise.all([
    service.live.patch(path, { provider: 'smtp' }),
    service.live.patch(path, { openTracking: true }),
  ]);
  const { data } = (await service.live.get(path)).body;
  expect(data).toMatchObject({ provider: 'smtp', fallbacks: ['ses'], openTracking: true });
  expect((await service.live.patch(path, { fallbacks: [] })).body.data.fallbacks).toEqual([]);
  expect((await service.live.get(path)).body.data).toMatchObject({ provider: 'smtp', fallbacks: [] });
});

test('room that another transport made needless is given back', async () => {
  await goBy('ses', ['smtp']);
  const isSent = ({ status }: Email): boolean => status === 'sent';
  await patch({ warmUps: [{ provider: 'ses', startedAt: service.today(), perDay: Array(9).fill(1) }] });
  ses.fail([429, 'TooManyRequestsException']);
  const first = await service.until(await service.send(), isSent);
  expect(sentOf(first).provider).toBe('smtp');
  expect((await life(first.id)).context.counted).toBeNull();
  ses.fail(null);
  const second = await service.until(await service.send(), isSent);
  expect([sentOf(second).provider, (await life(second.id)).context.counted?.transport]).toEqual([
    'ses',
    'ses',
  ]);
});

test('what waits for the warm-up of a transport leaves when its domain has another one', async () => {
  const waiting = await service.send();
  await eventually('it waits', async () => (await life(waiting)).context.postponed || undefined);
  await goBy('smtp', []);
  const email = await service.until(waiting, ({ status }) => status === 'sent');
  expect(sentOf(email).provider).toBe('smtp');
});

test('mail without room in the warm-up of the first goes on to the next while the first is down', async () => {
  await goBy('smtp', ['ses']);
  const isSent = ({ status }: Email): boolean => status === 'sent';
  const warmUps = [{ provider: 'smtp', startedAt: service.today(), perDay: [1, 1] }];
  await patch({ warmUps });
  // The mail of the tests before has left the relay alone or not; the one place of the day is used up once it
  // has taken this.
  await eventually('the relay has taken one', async () => {
    const id = await service.send();
    await eventually('it has left, or waits', async () => {
      const { status, context } = await life(id);
      return isSent({ status }) || context.postponed !== undefined || undefined;
    });
    return relayHas(id) === 1 || undefined;
  });
  const waiting = await service.send();
  await eventually('it waits', async () => (await life(waiting)).context.postponed || undefined);
  await patch({ warmUps: [] });
  await service.until(waiting, isSent);

  relay.script = { mail: '421 4.3.2 closing' };
  for (let n = 0; n < 3; n++) await service.until(await service.send(), isSent);
  await patch({ warmUps });
  const id = await service.send();
  const email = await service.until(id, isSent);
  expect(sentOf(email)).toMatchObject({ provider: 'ses', passedOver: [expect.stringMatching(/^smtp: /)] });
  expect([sesHas(id), relayHas(id)]).toEqual([1, 0]);
  expect((await life(id)).context.counted).toBeUndefined();
});
