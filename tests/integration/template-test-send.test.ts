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

/** A member of the only workspace. */
async function addMember(address: string): Promise<void> {
  const { database } = service.service;
  await database.query(
    `insert into accounts (id, email, email_key, name, created_at) values ('acc_1', $1, $1, 'Ada', now())`,
    [address],
  );
  await database.query(
    `insert into members (id, workspace_id, account_id, role, joined_at)
     select 'mem_1', id, 'acc_1', 'owner', now() from workspaces`,
  );
}

const aTemplate = async (html: string): Promise<string> => {
  const said = { name: 'T', subject: 'S', html, from: 't@sender.example' };
  return (await service.live.post('/v1/templates', said)).body.data.id;
};

test('a test send to members has a link to unsubscribe that says that it is a test, and offers mail programs none', async () => {
  const way = '<a href="{{ unsubscribeUrl }}">Leave</a>';
  const html = `<p>Hi</p>${way}`;
  await addMember('ada@people.example');
  const path = `/v1/templates/${await aTemplate(html)}/test-send`;
  const to = ['ada@people.example'];
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

test.each([[['customer@sender.example']], [['ada@people.example', 'customer@sender.example']]])(
  'a test send to %j, of whom one is no member, has a link by which each of them leaves',
  async (to) => {
    const template = await aTemplate('<p>Hi</p><a href="{{ unsubscribeUrl }}">Leave</a>');
    const audience = await service.live.post('/v1/audiences', { name: 'A' });
    const campaign = await service.live.post('/v1/campaigns', {
      audienceId: audience.body.data.id,
      name: 'C',
      subject: 'S',
      html: '<p>Hi</p>',
      from: 't@sender.example',
    });
    for (const path of [
      `/v1/templates/${template}/test-send`,
      `/v1/campaigns/${campaign.body.data.id}/test-send`,
    ]) {
      const told = await service.live.post(path, { to });
      const message = await captured(told.body.data.id);
      expect(message.html + message.text).not.toContain('/t/u/test');
      expect(message.text).toContain('/t/u/');
      expect(message.headers.map(({ name }: Email) => name)).toContain('List-Unsubscribe');
    }
  },
);

test('the link to the preferences in a test send leads to the page that says that it is a test', async () => {
  const path = `/v1/templates/${await aTemplate('<a href="{{ preferencesUrl }}">Choose</a>')}/test-send`;
  const told = await service.live.post(path, { to: ['customer@sender.example'] });
  const { html } = await captured(told.body.data.id);
  const [, link = ''] = /href="([^"]+)">Choose/.exec(html) ?? [];
  const page = await fetch(service.url + new URL(link).pathname);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('unsubscribes no one')]);
});
