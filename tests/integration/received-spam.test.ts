import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { LARGEST_JUDGED } from '../../src/mail/spam/spam-verdict.ts';
import { diagnoseReceived } from '../../src/ops/doctor/mail/received.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { type Spamd, startSpamd } from '../support/spamd.ts';
import { aMail, handIn, handOver, receiving } from './received-door.ts';
import { SmtpClient } from './transport/smtp-client.ts';

let spamd: Spamd;
let service: LiveService;
let port: number;
let metrics: number;
let exactly: ReturnType<typeof receiving>['exactly'];
let receivedBy: ReturnType<typeof receiving>['receivedBy'];

beforeAll(async () => {
  spamd = await startSpamd();
  [port, metrics] = [await freePort(), await freePort()];
  service = await startLiveService({
    environment: {
      INBOUND_SMTP_PORT: String(port),
      SPAMASSASSIN_URL: spamd.url,
      METRICS_PORT: String(metrics),
    },
  });
  ({ exactly, receivedBy } = receiving(service));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await spamd[Symbol.asyncDispose]();
});

const handed = async (localPart: string, raw: string) =>
  (await handIn(port, 'ada@customer.example', [`${localPart}@sender.example`], raw)).at(-1);

describe('a message that the filter takes for spam', () => {
  test('is stored with its verdict where its route marks', async () => {
    const route = await exactly('marked');
    expect(await handed('marked', aMail())).toStartWith('250 ');
    expect((await receivedBy(route.id))[0].spam).toEqual({ verdict: 'spam', score: 6.2 });
    expect(spamd.asked.at(-1)).toMatch(
      /^Return-Path: <ada@customer\.example>\r\nReceived: from client\.example \(\[127\.0\.0\.1\]\)/,
    );
  });

  test('is refused after its end where its route refuses, and nothing of it is stored', async () => {
    const route = await exactly('refusing', { spam: 'refuse' });
    const { database } = service.service;
    const stored = () => database.query('select id from received_contents');
    const before = await stored();
    expect(await handed('refusing', aMail())).toStartWith('550 5.7.1 ');
    expect(await receivedBy(route.id)).toEqual([]);
    expect(await stored()).toEqual(before);
  });

  test('has one end: a recipient that refuses comes in a transaction apart', async () => {
    const marks = await exactly('marks-too');
    await exactly('refuses-too', { spam: 'refuse' });
    const client = await SmtpClient.open(port);
    try {
      await client.say('EHLO client.example');
      const to = ['marks-too@sender.example', 'refuses-too@sender.example'];
      const replies = await handOver(client, 'ada@customer.example', to, aMail());
      expect(replies.map((reply) => reply.slice(0, 9))).toEqual([
        expect.stringMatching(/^250/),
        expect.stringMatching(/^250/),
        '452 4.5.3',
        expect.stringMatching(/^250/),
      ]);
      expect(await receivedBy(marks.id)).toHaveLength(1);
    } finally {
      client.end();
    }
  });

  test('is refused to a test route as to a live one', async () => {
    const { routed } = receiving(service);
    await routed({ type: 'exact', localPart: 'tested' }, { spam: 'refuse' }, service.test);
    const came = await service.test.post('/v1/received/test', {
      from: 'ada@customer.example',
      to: 'tested@sender.example',
      text: 'Hello',
    });
    expect([came.status, came.body.error.details[0].path]).toEqual([422, '/body']);
  });

  test('is not judged above 512,000 octets', async () => {
    const route = await exactly('large', { spam: 'refuse' });
    const short = aMail({}, '');
    const line = `${'x'.repeat(70)}\r\n`;
    const body = line.repeat(Math.ceil((LARGEST_JUDGED - short.length) / line.length));
    const asked = spamd.asked.length;
    expect(
      await handed('large', `${short}${body.slice(0, LARGEST_JUDGED - short.length - 2)}\r\n`),
    ).toStartWith('550 5.7.1 ');
    expect(await handed('large', `${short}${body}${line}`)).toStartWith('250 ');
    expect(spamd.asked).toHaveLength(asked + 1);
    expect((await receivedBy(route.id))[0].spam).toEqual({ verdict: 'unknown', score: null });
  });
});

test('the ends of messages are counted', async () => {
  const loop = aMail({}).replace(
    /^/,
    'Received: from a by b; Fri, 20 Nov 2026 22:43:17 +0000\r\n'.repeat(51),
  );
  expect(await handed('marked', loop)).toStartWith('554 5.4.6 ');
  const page = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  for (const end of ['taken', 'spam', 'loop'])
    expect(page).toMatch(new RegExp(`^posthorn_received_total\\{end="${end}"\\} [1-9]`, 'm'));
});

describe('the doctor', () => {
  const found = async (more: object): Promise<readonly [string, string][]> => {
    const config = {
      host: '127.0.0.1',
      inboundSmtpPort: port,
      smtpTrustProxy: null,
      spamassassinUrl: null,
      rspamdUrl: null,
      sesInboundTopics: null,
      ...more,
    };
    const said = await Array.fromAsync(diagnoseReceived(config, service.service.database));
    return said.map(({ check, status }) => [check, status]);
  };

  test('tells whether the port and the filter answer', async () => {
    await using ready = await startSpamd('SPAMD/1.5 0 PONG\r\n');
    await exactly('of-the-doctor', { spam: 'refuse' });
    expect(await found({ spamassassinUrl: ready.url })).toEqual([
      ['Received mail', 'fine'],
      ['Spam filter', 'fine'],
    ]);
    const nobody = await freePort();
    expect(await found({ inboundSmtpPort: nobody, spamassassinUrl: `tcp://127.0.0.1:${nobody}` })).toEqual([
      ['Received mail', 'skipped'],
      ['Spam filter', 'wrong'],
    ]);
  });

  test('warns of routes that take nothing, and of routes that refuse spam without a filter', async () => {
    expect(await found({ inboundSmtpPort: null })).toEqual([
      ['Received mail', 'warning'],
      ['Spam filter', 'warning'],
    ]);
  });
});

test('a filter that is away takes no mail away, and is left alone after three failures', async () => {
  await using away = await startSpamd('nonsense');
  const door = await freePort();
  await using other = await startLiveService({
    environment: { INBOUND_SMTP_PORT: String(door), SPAMASSASSIN_URL: away.url },
  });
  const { exactly: route, receivedBy: by } = receiving(other);
  const made = await route('calm', { spam: 'refuse' });
  for (let count = 0; count < 5; count++)
    expect((await handIn(door, '', ['calm@sender.example'], aMail())).at(-1)).toStartWith('250 ');
  const items = await by(made.id);
  expect(items.map(({ spam }) => spam)).toEqual(Array(5).fill({ verdict: 'unknown', score: null }));
  expect(away.asked).toHaveLength(3);
  expect(other.logged()).toContain('SPAMASSASSIN_URL gave no verdict');
});

const spamdPath = Bun.which('spamd') ?? ['/usr/sbin/spamd'].find((path) => Bun.file(path).size > 0);
if (!spamdPath)
  console.log('Not shown here, since the Debian package spamd is not installed: a verdict of a real spamd.');

test.if(spamdPath !== undefined)(
  'a real spamd refuses the test message of all filters, and takes a plain one',
  async () => {
    const [own, door] = [await freePort(), await freePort()];
    const child = Bun.spawn(
      [spamdPath as string, '-L', '-x', '-u', 'nobody', '-m', '1', '--listen', `127.0.0.1:${own}`],
      { stdout: 'ignore', stderr: 'ignore' },
    );
    try {
      const url = `tcp://127.0.0.1:${own}`;
      await using other = await startLiveService({
        environment: { INBOUND_SMTP_PORT: String(door), SPAMASSASSIN_URL: url },
      });
      const { exactly: route, receivedBy: by } = receiving(other);
      const made = await route('real', { spam: 'refuse' });
      const gtube = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X';
      const plain = await eventually('spamd', async () => {
        await handIn(door, 'ada@customer.example', ['real@sender.example'], aMail());
        return (await by(made.id)).find(({ spam }) => spam.verdict !== 'unknown');
      });
      expect(plain.spam.verdict).toBe('ham');
      const replies = await handIn(door, 'ada@customer.example', ['real@sender.example'], aMail({}, gtube));
      expect(replies.at(-1)).toStartWith('550 5.7.1 ');
    } finally {
      child.kill();
      await child.exited;
    }
  },
);
