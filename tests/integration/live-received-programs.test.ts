import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { swaksMissing } from '../support/swaks.ts';
import { aMail, handIn } from './received-door.ts';
import { postfixMissing, startPostfix } from './transport/postfix.ts';

// Real programs hand mail in: a mail server that relays, and a client that people test with.

let service: LiveService;
let port: number;
let routeId: string;

beforeAll(async () => {
  port = await freePort();
  service = await startLiveService({ environment: { INBOUND_SMTP_PORT: String(port) } });
  const domain = await service.live.post('/v1/domains', { name: 'elsewhere.test' });
  const made = await service.live.post('/v1/inbound-routes', {
    domainId: domain.body.data.id,
    match: { type: 'prefix', localPart: 'support' },
    action: { type: 'keep' },
  });
  routeId = made.body.data.id;
});
afterAll(() => service[Symbol.asyncDispose]());

const received = async (): Promise<readonly Email[]> =>
  (await service.live.get(`/v1/received?routeId=${routeId}`)).body.data;

const missing = postfixMissing();
if (missing !== null) console.log(`Not shown here, since ${missing}: mail that a real Postfix relays.`);

describe.if(missing === null)('a real Postfix', () => {
  test('relays a message with two recipients, which arrives once for each', async () => {
    await using postfix = await startPostfix({ relaysTo: port });
    const to = ['support@elsewhere.test', 'support+two@elsewhere.test'];
    const raw = aMail({ Subject: 'By Postfix' }, `.\r\n..\r\n${'long '.repeat(180)}`);
    const replies = await handIn(postfix.port, 'ada@customer.example', to, raw);
    expect(replies.at(-1)).toStartWith('250 ');
    const items = await eventually(
      'both messages',
      async () => {
        const found = (await received()).filter(({ subject }) => subject === 'By Postfix');
        return found.length === 2 ? found : undefined;
      },
      { withinMs: 60_000 },
    );
    expect(items.map(({ envelope }) => envelope.to).toSorted()).toEqual(to.toSorted());
    const [first] = items;
    const detail = (await service.live.get(`/v1/received/${first.id}`)).body.data;
    expect(detail.text).toStartWith('.\n..\nlong ');
    expect(detail.headers.some(({ name }: { name: string }) => name === 'Received')).toBe(true);
  });
});

const noSwaks = swaksMissing();
if (noSwaks !== null) console.log(`Not shown here, since ${noSwaks}: its mail.`);

describe.if(noSwaks === null)('swaks', () => {
  const say = async (...words: string[]) => {
    const run = Bun.spawn(['swaks', '--server', `127.0.0.1:${port}`, '--helo', 'client.example', ...words], {
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const said = await new Response(run.stdout).text();
    return { said, code: await run.exited };
  };

  test('hands a message with a file in, and hears 550 for an unknown address', async () => {
    const words = [
      '--from',
      'ada@customer.example',
      '--header',
      'Subject: By swaks',
      '--attach',
      `@${import.meta.path}`,
    ];
    expect(await say('--to', 'support@elsewhere.test', ...words)).toMatchObject({ code: 0 });
    const [item] = (await received()).filter(({ subject }) => subject === 'By swaks');
    const detail = (await service.live.get(`/v1/received/${item.id}`)).body.data;
    expect(detail.attachments).toHaveLength(1);
    const unknown = await say('--to', 'unknown@elsewhere.test', ...words);
    expect(unknown.code).not.toBe(0);
    expect(unknown.said).toContain('550 5.1.1');
  });
});
