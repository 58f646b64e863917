import http from 'node:http';
import { createClient } from '../support/client.ts';
import { TEST_KEY } from '../support/service.ts';
import { load, type PreparedRequest, preparePost } from './load.ts';
import type { Section } from './workbench.ts';

const ENDPOINTS = 10;
const DELIVERIES_AN_EMAIL = 2 * ENDPOINTS;
/**
 * Deliveries on their way at once: enough to keep everything busy, too few to overrun what may wait in
 * memory.
 */
const UNDER_WAY = 4_000;
const AT_ONCE = 64;

export const EMAIL = {
  from: 'Acme <hello@acme.example>',
  to: 'delivered@simulator.svc.test',
  subject: 'Your order is on its way',
  text: 'It left our warehouse this morning.',
};

const BODY = JSON.stringify({
  id: 'evt_1',
  type: 'delivered',
  data: { response: 'x'.repeat(150) },
  livemode: false,
});

/**
 * Deliveries a second to a local receiver, every one durable, beside bare POSTs to the same receiver in the
 * same run.
 */
export const webhooks: Section = {
  name: 'webhooks',
  async run(bench) {
    const service = await bench.service(await bench.database('bench_webhooks'));
    const sink = Bun.spawn([process.execPath, new URL('webhook-sink.ts', import.meta.url).pathname], {
      stdout: 'pipe',
    });
    try {
      const { value } = await sink.stdout.getReader().read();
      const port = Number(new TextDecoder().decode(value));
      const deliveries = bench.scale.emails / 2;
      bench.say(`${deliveries} bare POSTs …`);
      await barePosts(port, deliveries / 4);
      const posting = bench.meterCpu(process);
      const bare = await barePosts(port, deliveries);
      const bareCpu = posting(deliveries);
      bench.say(`${deliveries} webhook deliveries …`);
      const taken = async () => Number(await (await fetch(`http://127.0.0.1:${port}/`)).text());
      const client = createClient(service.url, TEST_KEY);
      for (let n = 0; n < ENDPOINTS; n += 1) {
        const url = `http://127.0.0.1:${port}/hook/${n}`;
        await client.post('/v1/webhooks', { url, events: ['sent', 'delivered'] });
      }
      const send = preparePost(service.port, '/v1/emails', TEST_KEY, EMAIL);
      await deliver(send, deliveries / 4, taken);
      const spent = bench.meterCpu(service);
      const durable = await deliver(send, deliveries, taken);
      const cpu = spent(durable.caused);
      const over = { what: 'bare POSTs', perSecond: bare };
      return [
        { what: `bare POSTs of node:http, ${AT_ONCE} at once`, perSecond: bare, cpu: bareCpu },
        {
          what: `(w) webhook deliveries, durable, ${ENDPOINTS} endpoints`,
          perSecond: durable.perSecond,
          over,
          aim: 0.5,
          cpu,
        },
      ];
    } finally {
      sink.kill();
      await service[Symbol.asyncDispose]();
    }
  },
};

/**
 * Deliveries a second until so many have come, and how many were caused for it, which are waited for as well.
 */
export async function deliver(
  send: PreparedRequest,
  count: number,
  taken: () => Promise<number>,
  deliveriesAnEmail = DELIVERIES_AN_EMAIL,
): Promise<{ readonly perSecond: number; readonly caused: number }> {
  const before = await taken();
  const start = performance.now();
  let caused = 0;
  for (let received = 0; received < count; received = (await taken()) - before) {
    if (caused < count && caused - received < UNDER_WAY) {
      // Each by a connection: emails that waited for one another came too late, and the service for them.
      await load(send, AT_ONCE, AT_ONCE);
      caused += AT_ONCE * deliveriesAnEmail;
    } else await Bun.sleep(2);
  }
  const perSecond = (count * 1_000) / (performance.now() - start);
  while ((await taken()) - before < caused) await Bun.sleep(5);
  return { perSecond, caused };
}

/** Keep-alive POSTs of node:http and nothing else. */
export async function barePosts(port: number, count: number): Promise<number> {
  const agent = new http.Agent({ keepAlive: true });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) };
  const post = (): Promise<void> =>
    new Promise((settle, fail) => {
      const request = http.request(
        { host: '127.0.0.1', port, path: '/hook', method: 'POST', agent, headers },
        (response) => {
          response.on('data', () => {});
          response.on('end', settle);
        },
      );
      request.on('error', fail);
      request.end(BODY);
    });
  let next = 0;
  const start = performance.now();
  const worker = async (): Promise<void> => {
    while (next++ < count) await post();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  agent.destroy();
  return (count * 1_000) / (performance.now() - start);
}
