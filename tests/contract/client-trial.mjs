// Runs in Node.js and in Bun with the package as it is published: argv holds its folder and the service, the environment the key.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [folder, baseUrl] = process.argv.slice(2);
const { isPosthornError, Posthorn, settle, verifyWebhook } = await import(
  pathToFileURL(`${folder}/posthorn.js`).href
);
const apiKey = process.env.POSTHORN_API_KEY;
const email = {
  from: 'Acme <hello@acme.example>',
  to: 'delivered@simulator.svc.test',
  subject: 'Hello',
  text: 'Hi',
};
const said = {};

// The first answer is lost on its way: the repeated request is the same one to the service.
let lost = 0;
const posthorn = new Posthorn({
  apiKey,
  baseUrl,
  backoff: { firstMs: 1, mostMs: 5_000 },
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    if (init.method === 'POST' && lost++ === 0) throw new Error('The connection broke off.');
    return response;
  },
});

let arrived;
const received = new Promise((resolve) => {
  arrived = resolve;
});
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  response.end('ok');
  arrived({ payload: Buffer.concat(parts), signature: request.headers['x-svc-signature'] });
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${server.address().port}/hooks`;

const tag = { name: 'trial', value: process.versions.bun ? 'bun' : 'node' };
const first = await posthorn.emails.send({ ...email, tags: [tag] });
said.attempts = lost;
said.firstIs = first.livemode;

const webhook = await posthorn.webhooks.create({ url, events: ['delivered'] });
const batch = await posthorn.emails.sendBatch([
  { ...email, tags: [tag] },
  { ...email, to: 'nobody', tags: [tag] },
  { ...email, tags: [tag] },
]);
said.batch = batch.map((item) => ('error' in item ? item.error.code : 'accepted'));

const listed = [];
for await (const item of posthorn.emails.list({ tag: `trial:${tag.value}`, limit: 1 })) listed.push(item.id);
said.listed = listed.length;
said.firstIsListed = listed.includes(first.id);

const event = await verifyWebhook({ ...(await received), secret: webhook.secret });
said.event = [event.type, event.livemode];
await posthorn.webhooks.delete(webhook.id);
server.close();

const { error } = await settle(posthorn.emails.send({ ...email, to: 'nobody' }));
said.refusal = [isPosthornError(error), error.code, error.status, error.details.map(({ path }) => path)];
said.missing = (await settle(posthorn.emails.get('em_00000000000000000000000000'))).error.code;
said.stranger = (
  await settle(new Posthorn({ apiKey: 'svc_test_wrong', baseUrl }).workspace.get())
).error.code;
for await (const page of posthorn.events.follow({ types: 'delivered' })) {
  said.followed = page.data.length > 0 && page.nextCursor !== null;
  break;
}
console.log(JSON.stringify(said));
