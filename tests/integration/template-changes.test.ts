import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// A remembered template is checked in the statement that accepts an email: no recipient gets an earlier
// version.

let service: LiveService;
beforeAll(async () => {
  service = await startLiveService();
});
afterAll(() => service[Symbol.asyncDispose]());

const SENDER = { from: 'Shop <shop@sender.example>', to: 'ada@example.com' };
const create = async (template: object): Promise<string> => {
  const told = await service.live.post('/v1/templates', { name: 'T', subject: 'S', ...template });
  if (told.status !== 201) throw new Error(JSON.stringify(told.body));
  return told.body.data.id;
};
const send = (body: object) => service.live.post('/v1/emails', { ...SENDER, ...body });
const sent = async (body: object): Promise<Email> => {
  const told = await send(body);
  if (told.status !== 202) throw new Error(JSON.stringify(told.body));
  return (await service.live.get(`/v1/emails/${told.body.data.id}`)).body.data;
};

test('a template that has been sent is sent as it is now: changed, moved and deleted', async () => {
  const id = await create({ alias: 'moving', html: '<p>First</p>' });
  const htmlOf = async (body: object) => (await sent(body)).html;
  for (const name of [id, 'moving', 'moving'])
    expect(await htmlOf({ templateId: name })).toBe('<p>First</p>');
  expect((await service.live.patch(`/v1/templates/${id}`, { html: '<p>Second</p>' })).status).toBe(200);
  for (const name of [id, 'moving']) expect(await htmlOf({ templateId: name })).toBe('<p>Second</p>');

  const key = { 'idempotency-key': 'template-once' };
  const asked = { ...SENDER, templateId: 'moving' };
  const first = await service.live.post('/v1/emails', asked, key);
  expect((await service.live.patch(`/v1/templates/${id}`, { alias: null })).status).toBe(200);
  // The reply of the key stays, whatever has become of the template.
  expect((await service.live.post('/v1/emails', asked, key)).body).toEqual(first.body);
  expect((await send({ templateId: 'moving' })).status).toBe(404);
  await create({ alias: 'moving', html: '<p>Other</p>' });
  expect(await htmlOf({ templateId: 'moving' })).toBe('<p>Other</p>');
  expect(await htmlOf({ templateId: id })).toBe('<p>Second</p>');

  // In one batch: what is remembered, what has changed, and no template at all.
  expect((await service.live.patch(`/v1/templates/${id}`, { html: '<p>Third</p>' })).status).toBe(200);
  const many = [{ templateId: 'moving' }, { templateId: id }, { subject: 'S', text: 'Plain' }];
  const batch = await service.live.post('/v1/emails/batch', {
    emails: many.map((each) => ({ ...SENDER, ...each })),
  });
  const made = batch.body.data.map((each: { id: string }) => service.live.get(`/v1/emails/${each.id}`));
  const bodies = (await Promise.all<Email>(made)).map(({ body }) => body.data.html ?? body.data.text);
  expect(bodies).toEqual(['<p>Other</p>', '<p>Third</p>', 'Plain']);

  expect((await service.live.delete(`/v1/templates/${id}`)).status).toBe(204);
  expect((await send({ templateId: id })).status).toBe(404);
});

test('a remembered template refuses no email once it has changed', async () => {
  const id = await create({ subject: '{{ title }}', html: '<p>Hello</p>' });
  await sent({ templateId: id, variables: { title: 'One' } });
  const empty = { templateId: id, variables: { title: ' ' } };
  expect((await send(empty)).status).toBe(422);
  await sent({ templateId: id, variables: { title: 'One' } });
  expect((await service.live.patch(`/v1/templates/${id}`, { subject: 'Now there is one' })).status).toBe(200);
  expect((await sent(empty)).subject).toBe('Now there is one');
});

test('changes at the same moment that ask for no version are all made, each as a separate version', async () => {
  const id = await create({ html: '<p>First</p>' });
  const told = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      service.live.patch(`/v1/templates/${id}`, { html: `<p>Change ${n}</p>` }),
    ),
  );
  expect(told.map(({ status }) => status)).toEqual(told.map(() => 200));
  expect(new Set(told.map(({ body }) => body.data.version)).size).toBe(8);
});
