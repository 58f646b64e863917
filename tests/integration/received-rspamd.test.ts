import { expect, test } from 'bun:test';
import { diagnoseReceived } from '../../src/ops/doctor/mail/received.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { rspamdMissing, standInForRspamd, startRspamd } from '../support/rspamd.ts';
import { aMail, handIn, receiving } from './received-door.ts';

async function serviceWith(rspamdUrl: string, more: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const environment = { INBOUND_SMTP_PORT: String(port), RSPAMD_URL: rspamdUrl, ...more };
  const service = await startLiveService({ environment });
  const handed = async (localPart: string, raw: string, from = 'ada@customer.example') =>
    (await handIn(port, from, [`${localPart}@sender.example`], raw)).at(-1);
  return {
    service,
    handed,
    ...receiving(service),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

const answerOf = (action: string, score: number) => ({
  is_skipped: false,
  score,
  required_score: 15,
  action,
});

test('rspamd hears of the connection, and its action is the verdict', async () => {
  const actions = new Map([
    ['no action', 'ham'],
    ['greylist', 'ham'],
    ['soft reject', 'ham'],
    ['add header', 'spam'],
    ['rewrite subject', 'spam'],
    ['reject', 'spam'],
  ]);
  let action = '';
  using rspamd = standInForRspamd(() => answerOf(action, 6.5));
  const url = new URL(rspamd.url);
  url.password = 'a secret';
  await using at = await serviceWith(url.href);
  const route = await at.exactly('marked');
  for (const [said, verdict] of actions) {
    action = said;
    expect(await at.handed('marked', aMail())).toStartWith('250 ');
    expect((await at.receivedBy(route.id))[0].spam).toEqual({ verdict, score: 6.5 });
  }
  const [first] = rspamd.asked;
  expect(first?.path).toBe('/checkv2');
  const told = ['helo', 'ip', 'from', 'password'].map((name) => first?.headers.get(name));
  expect(told).toEqual(['client.example', '127.0.0.1', 'ada@customer.example', 'a secret']);
  expect(first?.body).toStartWith('From: Ada <ada@customer.example>\r\n');
});

test('a route that refuses spam answers 550, and nothing of it is stored', async () => {
  using rspamd = standInForRspamd(() => answerOf('add header', 7));
  await using at = await serviceWith(rspamd.url);
  const route = await at.exactly('refusing', { spam: 'refuse' });
  expect(await at.handed('refusing', aMail())).toStartWith('550 5.7.1 ');
  expect(await at.receivedBy(route.id)).toEqual([]);
  expect(await at.service.service.database.query('select id from received_contents')).toEqual([]);
});

test.each([
  ['says no verdict', () => ({ action: 'no action' })],
  ['has skipped the message', () => ({ ...answerOf('no action', 0), is_skipped: true })],
  ['says an unknown action', () => answerOf('dance', 1)],
  ['answers with an error', () => new Response('no', { status: 500 })],
  [
    'answers with a redirect',
    ({ path, headers }: { readonly path: string; readonly headers: Headers }) =>
      path === '/checkv2'
        ? Response.redirect(`http://${headers.get('host')}/elsewhere`, 307)
        : answerOf('no action', 0),
  ],
  ['answers no JSON', () => new Response('{')],
  ['answers with megabytes', () => ({ ...answerOf('no action', 0), symbols: 'x'.repeat(1_048_577) })],
])('mail is taken as unknown where rspamd %s', async (_, answer) => {
  using rspamd = standInForRspamd(answer);
  await using at = await serviceWith(rspamd.url);
  const route = await at.exactly('calm', { spam: 'refuse' });
  expect(await at.handed('calm', aMail())).toStartWith('250 ');
  expect((await at.receivedBy(route.id))[0].spam).toEqual({ verdict: 'unknown', score: null });
});

test('eight messages are judged at once through all doors together', async () => {
  const answered = Promise.withResolvers<void>();
  using rspamd = standInForRspamd(() => answered.promise.then(() => answerOf('no action', 1)));
  await using at = await serviceWith(rspamd.url);
  await at.exactly('calm');
  await at.routed({ type: 'exact', localPart: 'tested' }, {}, at.service.test);
  const judged = Array.from({ length: 8 }, () => at.handed('calm', aMail()));
  await eventually('eight questions', async () => rspamd.asked.length === 8 || undefined);
  const ninth = await at.service.test.post('/v1/received/test', {
    from: 'ada@customer.example',
    to: 'tested@sender.example',
    text: 'Hello',
  });
  expect([ninth.status, ninth.body.data.spam]).toEqual([201, { verdict: 'unknown', score: null }]);
  expect(rspamd.asked).toHaveLength(8);
  answered.resolve();
  for (const reply of await Promise.all(judged)) expect(reply).toStartWith('250 ');
});

test('mail is taken while rspamd is away, which is left alone after three failures, and the doctor says so', async () => {
  using rspamd = standInForRspamd(() => new Response('', { status: 503 }));
  await using at = await serviceWith(rspamd.url, { SPAMASSASSIN_URL: 'tcp://127.0.0.1:9' });
  const route = await at.exactly('calm', { spam: 'refuse' });
  for (let count = 0; count < 5; count++) expect(await at.handed('calm', aMail())).toStartWith('250 ');
  const items = await at.receivedBy(route.id);
  expect(items.map(({ spam }) => spam.verdict)).toEqual(Array(5).fill('unknown'));
  expect(rspamd.asked).toHaveLength(3);
  expect(at.service.logged()).toContain('RSPAMD_URL gave no verdict');
  expect(await found(at.service, rspamd.url)).toBe('fine');
  expect(await found(at.service, `http://127.0.0.1:${await freePort()}`)).toBe('wrong');
});

async function found({ service }: LiveService, rspamdUrl: string): Promise<string | undefined> {
  const config = {
    host: '127.0.0.1',
    inboundSmtpPort: null,
    smtpTrustProxy: null,
    spamassassinUrl: null,
    rspamdUrl,
    sesInboundTopics: null,
  };
  const said = await Array.fromAsync(diagnoseReceived(config, service.database));
  return said.find(({ check }) => check === 'Spam filter')?.status;
}

test('the doctor reads no more of an answer than its beginning', async () => {
  let isFirst = true;
  using endless = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(isFirst ? 'pong\r\n' : 'x'.repeat(65_536));
            isFirst = false;
          },
        }),
      ),
  });
  await using service = await startLiveService();
  expect(await found(service, endless.url.origin)).toBe('fine');
});

const missing = rspamdMissing();
if (missing) console.log(`Not shown here, since ${missing}: a verdict of a real rspamd.`);

test.if(missing === null)(
  'a real rspamd refuses the test message of all filters, and takes a plain one',
  async () => {
    await using rspamd = await startRspamd();
    await using at = await serviceWith(rspamd.url);
    const route = await at.exactly('real', { spam: 'refuse' });
    expect(await at.handed('real', aMail())).toStartWith('250 ');
    expect((await at.receivedBy(route.id))[0].spam).toEqual({ verdict: 'ham', score: expect.any(Number) });
    const gtube = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X';
    expect(await at.handed('real', aMail({}, gtube))).toStartWith('550 5.7.1 ');
    expect(await at.receivedBy(route.id)).toHaveLength(1);
  },
);
