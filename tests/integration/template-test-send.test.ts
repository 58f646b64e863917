import { afterAll, expect, test } from 'bun:test';
import { type Email, startLiveService } from '../support/live-service.ts';

const service = await startLiveService();
afterAll(() => service[Symbol.asyncDispose]());

/** The message as it would have left. */
const captured = async (emailId: string): Promise<Email> => {
  await service.until(emailId, ({ status }) => status === 'delivered');
  const [{ id }] = (await service.live.get(`/v1/captured?emailId=${emailId}`)).body.data;
  return (await service.live.get(`/v1/captured/${id}`)).body.data;
};

test('a test send has a link to unsubscribe that says that it is a test, and offers mail programs none', async () => {
  const way = '<a href="{{ unsubscribeUrl }}">Leave</a>';
  const html = `<p>Hi</p>${way}`;
  const made = await service.live.post('/v1/templates', {
    name: 'T',
    subject: 'S',
    html,
    from: 't@sender.example',
  });
  const path = `/v1/templates/${made.body.data.id}/test-send`;
  const to = ['me@sender.example'];
  const told = await service.live.post(path, { to });
  const message = await captured(told.body.data.id);
  const [, link = ''] = /href="([^"]+)"/.exec(message.html) ?? [];
  expect(new URL(link).pathname).toBe('/t/u/test');
  expect(message.text).toContain('/t/u/test');
  expect(message.headers.map(({ name }: Email) => name)).not.toContain('List-Unsubscribe');
  for (const method of ['GET', 'POST']) {
    const body = method === 'POST' ? new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) : null;
    const page = await fetch(service.url + new URL(link).pathname, { method, body });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('unsubscribes no one')]);
  }
  expect((await service.live.get('/v1/suppressions')).body.data).toEqual([]);
  const again = await service.live.post(path, { to });
  expect((await captured(again.body.data.id)).subject).toStartWith('[Test] ');
});
