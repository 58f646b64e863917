import { afterAll, beforeAll, expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { aMail, handIn } from './received-door.ts';
import { startNameServer, type TestNameServer, txt } from './transport/name-server.ts';

let dns: TestNameServer;
let service: LiveService;
let port: number;

beforeAll(async () => {
  dns = await startNameServer({
    'customer.example TXT': [txt('v=spf1 ip4:127.0.0.1 -all')],
    '_dmarc.customer.example TXT': [txt('v=DMARC1; p=reject')],
    'forger.example TXT': [txt('v=spf1 -all')],
    'slow.example TXT': 'silence',
    '_dmarc.slow.example TXT': 'silence',
  });
  port = await freePort();
  service = await startLiveService({
    environment: { INBOUND_SMTP_PORT: String(port), DNS_SERVERS: `127.0.0.1:${dns.server.port}` },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

/** The results that a message of that sender is shown with. */
async function authenticated(localPart: string, from: string, author = from) {
  const match = { type: 'exact', localPart };
  const { domainId, live } = service;
  const route = await live.post('/v1/inbound-routes', { domainId, match, action: { type: 'keep' } });
  const mail = aMail({ From: `<${author}>` });
  const replies = await handIn(port, from, [`${localPart}@sender.example`], mail);
  expect(replies.at(-1)).toStartWith('250 ');
  const [item] = (await live.get(`/v1/received?routeId=${route.body.data.id}`)).body.data;
  return item.authentication;
}

test('a message shows the results of its sender', async () => {
  expect(await authenticated('own', 'ada@customer.example')).toEqual({
    spf: 'pass',
    dkim: 'none',
    dmarc: 'pass',
  });
  expect(await authenticated('forged', 'x@forger.example', 'ada@customer.example')).toEqual({
    spf: 'fail',
    dkim: 'none',
    dmarc: 'fail',
  });
});

test('a sender whose name servers are silent is taken within its time', async () => {
  const { spf, dkim } = await authenticated('slow', 'x@slow.example');
  expect([spf, dkim]).toEqual(['temperror', 'none']);
});
