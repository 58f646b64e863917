/**
 * Bare keep-alive POSTs of node:http against this service's webhook poster (signed, guarded, limited), and
 * against the poster on a connection each, to the same local receiver in another process, in turns within one
 * run. Prints POSTs per second and ratios.
 *
 * `bun tests/bench/webhook-post.ts [posts] [at once] [endpoints]`
 */
import http from 'node:http';
import { systemClock } from '../../src/platform/time/clock.ts';
import { createPoster } from '../../src/sending/webhooks/http/poster.ts';

const POSTS = Number(process.argv[2] ?? 20_000);
const AT_ONCE = Number(process.argv[3] ?? 64);
const ENDPOINTS = Number(process.argv[4] ?? 1);
const ROUNDS = 3;

const receiver = Bun.spawn([process.execPath, new URL('webhook-sink.ts', import.meta.url).pathname], {
  stdout: 'pipe',
});
const { value } = await receiver.stdout.getReader().read();
const port = Number(new TextDecoder().decode(value));

const body = JSON.stringify({
  id: 'evt_1',
  type: 'delivered',
  data: { response: 'x'.repeat(250) },
  livemode: true,
});
type Post = (n: number) => Promise<void>;

const agent = new http.Agent({ keepAlive: true });
const bare: Post = () =>
  new Promise((settle, fail) => {
    const bytes = Buffer.from(body);
    const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
    const request = http.request(
      { host: '127.0.0.1', port, path: '/hook', method: 'POST', agent, headers },
      (response) => {
        response.on('data', () => {});
        response.on('end', settle);
      },
    );
    request.on('error', fail);
    request.end(bytes);
  });

const poster = createPoster({ guard: () => true, resolve: async () => ['127.0.0.1'], clock: systemClock });
const postAs = (webhookId: string): Promise<void> =>
  poster
    .post({ webhookId, url: `http://receiver.test:${port}/hook`, secret: `whsec_${'s'.repeat(43)}`, body })
    .then(({ httpStatus, error }) => {
      if (httpStatus !== 200) throw new Error(`${httpStatus} ${error}`);
    });

const ways: Record<string, Post> = {
  'bare node:http': bare,
  'webhook poster': (n) => postAs(`wh_${n % ENDPOINTS}`),
  'a connection each': (n) => postAs(`wh_fresh_${n}`),
};

async function rate(post: Post): Promise<number> {
  let next = 0;
  const begin = performance.now();
  const worker = async (): Promise<void> => {
    for (let n = next++; n < POSTS; n = next++) await post(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return (POSTS * 1_000) / (performance.now() - begin);
}

const best: Record<string, number> = {};
for (let round = 0; round <= ROUNDS; round += 1)
  for (const [name, post] of Object.entries(ways)) {
    const perSecond = await rate(post);
    // The first round warms up.
    if (round > 0) best[name] = Math.max(best[name] ?? 0, perSecond);
  }
const reference = best['bare node:http'] ?? Number.NaN;
for (const [name, perSecond] of Object.entries(best))
  console.log(
    `${name.padEnd(18)} ${Math.round(perSecond).toString().padStart(7)} POSTs/s  ${(perSecond / reference).toFixed(2)}`,
  );

poster.close();
agent.destroy();
receiver.kill();
