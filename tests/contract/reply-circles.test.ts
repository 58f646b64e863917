import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Browser, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let key: string;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService({ HOST: '127.0.0.1' });
  owner = await setUpOwner(service);
  key = await service.keyWith('test', ['*']);
  const live = await service.keyWith('live', ['*']);
  const made = await service.ask({
    method: 'POST',
    path: '/v1/domains',
    key: live,
    body: { name: 'acme.example' },
  });
  const match = { type: 'exact', localPart: 'support' };
  await send('POST', '/v1/inbound-routes', { domainId: made.body.data.id, match, action: { type: 'keep' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const send = (method: string, path: string, body?: unknown) =>
  service.ask({ method, path, key, ...(body !== undefined && { body }) });

const contact = async (email: string): Promise<string> =>
  (await send('POST', '/v1/contacts', { email })).body.data.id;

/** A person who answers a new email. */
async function reply(from: string): Promise<void> {
  const letter = {
    from: 'Acme <hello@acme.example>',
    to: from,
    subject: 'News',
    text: 'Hi',
    replyTo: 'auto',
  };
  const { id } = (await send('POST', '/v1/emails', letter)).body.data;
  const [to] = (await send('GET', `/v1/emails/${id}`)).body.data.replyTo;
  const came = await send('POST', '/v1/received/test', {
    from,
    to,
    subject: 'Re: News',
    text: crypto.randomUUID(),
  });
  expect(came.status).toBe(201);
}

test('a program that answers each email of a flow begins ten runs a day, and its emails say that a program answers', async () => {
  const template = {
    name: 'Thanks',
    subject: 'Thanks',
    html: '<p>x</p>',
    from: 'a@acme.example',
    replyTo: 'auto',
  };
  const templateId = (await send('POST', '/v1/templates', template)).body.data.id;
  const flow = {
    name: 'Thanks',
    trigger: { type: 'replied' },
    reentry: 'afterExit',
    steps: [{ key: 'thank', type: 'sendEmail', config: { templateId } }],
  };
  const { id: flowId } = (await send('POST', '/v1/flows', flow)).body.data;
  await owner.ask(`/test/flows/${flowId}/activate`, {});
  const [circle, barrier] = await Promise.all([
    contact('circle@line.example'),
    contact('barrier@line.example'),
  ]);
  const runsOf = async (contactId: string) =>
    (await send('GET', `/v1/flows/${flowId}/runs?limit=100`)).body.data.filter(
      (run: { contactId: string; status: string }) =>
        run.contactId === contactId && run.status === 'completed',
    );
  for (let count = 1; count <= 10; count++) {
    await reply('circle@line.example');
    await eventually(`run ${count}`, async () =>
      (await runsOf(circle)).length === count ? true : undefined,
    );
  }
  const { id: runId } = (await runsOf(circle))[0];
  const run = (await send('GET', `/v1/flows/runs/${runId}`)).body.data;
  const email = (await send('GET', `/v1/emails/${run.log[0].emailId}`)).body.data;
  expect(email.headers).toEqual({ 'Auto-Submitted': 'auto-replied' });
  await reply('circle@line.example');
  // The log is followed in order: the run of a later reply begins after it.
  await reply('barrier@line.example');
  await eventually('the later run', async () => ((await runsOf(barrier)).length === 1 ? true : undefined));
  expect(await runsOf(circle)).toHaveLength(10);
});
