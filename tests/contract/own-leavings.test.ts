import { afterAll, beforeAll, expect, test } from 'bun:test';
import { confirmationPath, preferencesPath } from '../../src/audience/preferences/links.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { CsvReader } from '../../src/platform/csv/reader.ts';
import { linkToken } from '../../src/sending/tracking/api.ts';
import { eventually } from '../support/eventually.ts';
import { type RealService, startRealService } from './real-service.ts';

// People who leave although they already get nothing: the workspace has unsubscribed them, or their address
// has bounced. Both may end.

const SIGNER = createSigner('only-for-tests-only-for-tests-only');

let service: RealService;
let live: string;

beforeAll(async () => {
  service = await startRealService();
  live = await service.keyWith('live', ['*']);
  await send('POST', '/v1/domains', { name: 'sender.example' });
});
afterAll(() => service[Symbol.asyncDispose]());

const send = async (method: string, path: string, body?: unknown) => {
  const told = await service.ask({ method, path, key: live, ...(body !== undefined && { body }) });
  if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
  return told.body?.data;
};
const pageOf = (key: string) =>
  preferencesPath(SIGNER, { workspaceId: service.workspaceId, livemode: true, key });
const submit = (email: string, body: string) =>
  service.ask({
    method: 'POST',
    path: pageOf(email),
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const leaveEverything = (email: string) => submit(email, 'action=off');
const suppress = (email: string, reason: string) =>
  service.ask({
    method: 'POST',
    path: '/v1/suppressions/import',
    key: live,
    body: `address,reason\n${email},${reason}\n`,
    headers: { 'content-type': 'text/csv' },
  });
const suppressed = async (address: string) =>
  (await send('GET', `/v1/suppressions?address=${address}`))[0]?.reason ?? null;

test('a person who leaves after the workspace has unsubscribed them has left by themself from then on', async () => {
  const { database } = service.service;
  const email = 'after@example.com';
  await send('POST', '/v1/contacts', { email });
  await send('PATCH', `/v1/contacts/${email}`, { status: 'unsubscribed' });
  await database.query(
    `with c as (update contacts set unsubscribed_at = unsubscribed_at - interval '2 hours' where email = $1 returning id)
     update contact_activity a set at = at - interval '2 hours' from c where a.contact_id = c.id and a.type = 'unsubscribed'`,
    [email],
  );
  const subscribe = async (hoursAgo: number) => {
    const at = new Date(Date.now() - hoursAgo * 3_600_000).toISOString();
    const body = { status: 'subscribed', consent: { source: 'form', at } };
    return (await service.ask({ method: 'PATCH', path: `/v1/contacts/${email}`, key: live, body })).status;
  };
  for (let times = 0; times < 3; times++) await leaveEverything(email);
  const left = await send('GET', `/v1/contacts/${email}/activity?type=unsubscribed`);
  expect(left.map(({ data }: { data: { source: string } | null }) => data?.source ?? null)).toEqual([
    'preference page',
    null,
  ]);
  expect(await subscribe(1)).toBe(422);
  expect(await subscribe(0)).toBe(200);
});

test.each(['contact', 'stranger'])(
  'a %s whose address has bounced may leave, which outlives the bounce',
  async (who) => {
    const email = `${who}@bounced.example`;
    if (who === 'contact') await send('POST', '/v1/contacts', { email });
    const headers = { 'content-type': 'text/csv' };
    const body = `address,reason\n${email},bounced\n`;
    await service.ask({ method: 'POST', path: '/v1/suppressions/import', key: live, body, headers });
    expect((await service.ask({ path: pageOf(email) })).text).toContain('value="off"');
    for (let times = 0; times < 2; times++)
      expect((await leaveEverything(email)).text).toContain('You are unsubscribed from everything.');
    expect(await suppressed(email)).toBe('bounced');
    await send('DELETE', `/v1/suppressions/${email}`);
    expect(await suppressed(email)).toBe('unsubscribed');
  },
);

test('who had unsubscribed before a bounce, and confirms one audience, is back in that alone', async () => {
  const email = 'confirms@bounced.example';
  const contact = await send('POST', '/v1/contacts', { email });
  const other = await send('POST', '/v1/audiences', { name: 'Other' });
  await send('PATCH', '/v1/workspace', { defaultFrom: 'news@sender.example' });
  const asked = await send('POST', '/v1/audiences', { name: 'Asked', confirm: true });
  const add = ({ id }: { id: string }) =>
    send('POST', `/v1/audiences/${id}/contacts`, { contactIds: [contact.id] });
  await add(other);
  for (const reason of ['unsubscribed', 'bounced']) await suppress(email, reason);
  await add(asked);
  const scope = { workspaceId: service.workspaceId, livemode: true };
  const path = confirmationPath(SIGNER, { ...scope, key: email, audienceId: asked.id, language: null });
  expect((await service.ask({ method: 'POST', path })).status).toBe(200);
  const { status, audienceIds } = await send('GET', `/v1/contacts/${email}`);
  expect({ status, audienceIds }).toEqual({ status: 'subscribed', audienceIds: [asked.id] });
});

test('a page that was opened before the person was forgotten still leaves its list', async () => {
  const email = 'opened@before.example';
  const { id: audienceId } = await send('POST', '/v1/audiences', { name: 'Opened before', public: true });
  const { id } = await send('POST', '/v1/contacts', { email });
  await send('POST', `/v1/audiences/${audienceId}/contacts`, { contactIds: [id] });
  await send('DELETE', `/v1/contacts/${email}`);
  const other = (await send('POST', '/v1/audiences', { name: 'Not public' })).id;
  await submit(email, `action=save&shown=${audienceId}&shown=${other}&shown=aud_unknown`);
  const again = await send('POST', '/v1/contacts', { email });
  const left = await send('GET', `/v1/contacts/${email}/activity?type=left`);
  expect(left.map(({ audienceId: of }: { audienceId: string }) => of)).toEqual([audienceId]);
  await send('POST', `/v1/audiences/${audienceId}/contacts`, { contactIds: [again.id] });
  expect((await send('GET', `/v1/contacts/${email}`)).audienceIds).toEqual([]);
});

test('a program that unsubscribes a contact whose address has bounced is heard, which outlives the bounce', async () => {
  const email = 'program@bounced.example';
  await send('POST', '/v1/contacts', { email });
  await suppress(email, 'bounced');
  await send('PATCH', `/v1/contacts/${email}`, { status: 'unsubscribed' });
  expect((await send('GET', `/v1/contacts/${email}`)).status).toBe('bounced');
  await send('DELETE', `/v1/suppressions/${email}`);
  expect(await suppressed(email)).toBe('unsubscribed');
});

test.each(['unsubscribed', 'complained', 'bounced'])(
  'a contact who is %s gets no mail with a way to unsubscribe, also once their suppression is removed',
  async (status) => {
    const email = `${status}@lifted.example`;
    await send('POST', '/v1/contacts', { email });
    await suppress(email, status);
    await send('DELETE', `/v1/suppressions/${email}`);
    const outcome = async (text: string) => {
      const mail = { from: 'shop@sender.example', to: email, subject: 'Hello', text };
      const { id } = await send('POST', '/v1/emails', mail);
      return eventually('the outcome', async () => {
        const { status: state, recipients } = await send('GET', `/v1/emails/${id}`);
        return state === 'queued' || state === 'sending' ? undefined : recipients[0].status;
      });
    };
    expect(await outcome('News. Leave: {{unsubscribeUrl}}')).toBe('failed');
    expect(await outcome('Your receipt.')).toBe('delivered');
    const consent = { source: 'form', at: new Date().toISOString() };
    if (status === 'complained') return;
    await send('PATCH', `/v1/contacts/${email}`, { status: 'subscribed', consent });
    expect(await outcome('News. Leave: {{unsubscribeUrl}}')).toBe('delivered');
  },
);

test('the link that confirmed an audience brings no person back who has left everything since', async () => {
  const email = 'used@link.example';
  await send('POST', '/v1/contacts', { email });
  await send('PATCH', '/v1/workspace', { defaultFrom: 'news@sender.example' });
  const { id: audienceId } = await send('POST', '/v1/audiences', { name: 'Used', confirm: true });
  await send('POST', `/v1/audiences/${audienceId}/contacts`, { emails: [email] });
  const scope = { workspaceId: service.workspaceId, livemode: true };
  const path = confirmationPath(SIGNER, { ...scope, key: email, audienceId, language: null });
  for (let times = 0; times < 2; times++)
    expect((await service.ask({ method: 'POST', path })).status).toBe(200);
  await leaveEverything(email);
  expect((await service.ask({ method: 'POST', path })).status).toBe(400);
  expect((await service.ask({ path })).status).toBe(400);
  expect((await send('GET', `/v1/contacts/${email}`)).status).toBe('unsubscribed');
  expect(await suppressed(email)).toBe('unsubscribed');
});

test('a link that was mailed before the person left everything confirms nothing, unless they were asked again', async () => {
  await send('PATCH', '/v1/workspace', { defaultFrom: 'news@sender.example' });
  const { id: audienceId } = await send('POST', '/v1/audiences', { name: 'Waits', confirm: true });
  const scope = { workspaceId: service.workspaceId, livemode: true };
  const press = async (key: string) => {
    const path = confirmationPath(SIGNER, { ...scope, key, audienceId, language: null });
    const [shown, pressed] = [await service.ask({ path }), await service.ask({ method: 'POST', path })];
    expect(shown.status).toBe(pressed.status);
    return pressed.status;
  };
  const statusOf = async (email: string) => (await send('GET', `/v1/contacts/${email}`)).status;
  const ask = (email: string, more: object = {}) =>
    send('POST', `/v1/audiences/${audienceId}/contacts`, { emails: [email], ...more });
  const leaving = {
    left: (email: string) => leaveEverything(email),
    'left-and-bounced': async (email: string) => {
      await leaveEverything(email);
      await suppress(email, 'bounced');
    },
    complained: (email: string) => suppress(email, 'complained'),
  };
  for (const [name, leave] of Object.entries(leaving)) {
    const email = `${name}@waits.example`;
    await send('POST', '/v1/contacts', { email });
    await ask(email);
    await leave(email);
    const status = await statusOf(email);
    expect([name, await press(email)]).toEqual([name, 400]);
    expect(await statusOf(email)).toBe(status);
    expect((await send('GET', `/v1/contacts/${email}`)).audienceIds).toEqual([]);
  }
  const again = 'left@waits.example';
  await ask(again, { consent: { source: 'form', at: new Date().toISOString() } });
  expect(await press(again)).toBe(200);
  expect(await statusOf(again)).toBe('subscribed');
  // The workspace takes back its own act.
  const byWorkspace = 'workspace@waits.example';
  await send('POST', '/v1/contacts', { email: byWorkspace });
  await ask(byWorkspace);
  await send('PATCH', `/v1/contacts/${byWorkspace}`, { status: 'unsubscribed' });
  expect(await press(byWorkspace)).toBe(200);
  expect(await statusOf(byWorkspace)).toBe('subscribed');
});

test('who left everything is asked to confirm only with a later consent, also when forgotten in between', async () => {
  await send('PATCH', '/v1/workspace', { defaultFrom: 'news@sender.example' });
  const { id } = await send('POST', '/v1/audiences', { name: 'Asks', confirm: true });
  const mails = async (email: string) => (await send('GET', `/v1/emails?to=${email}`)).length;
  const [left, forgotten, byWorkspace, waits] = ['left', 'forgotten', 'workspace', 'waits'].map(
    (name) => `${name}@asks.example`,
  ) as [string, string, string, string];
  for (const email of [left, forgotten, byWorkspace]) await send('POST', '/v1/contacts', { email });
  for (const email of [left, forgotten]) await leaveEverything(email);
  await send('PATCH', `/v1/contacts/${byWorkspace}`, { status: 'unsubscribed' });
  await send('DELETE', `/v1/contacts/${forgotten}`);
  await send('POST', '/v1/contacts', { email: forgotten });
  const add = (email: string, more: object = {}) =>
    send('POST', `/v1/audiences/${id}/contacts`, { emails: [email], ...more });
  const old = { source: 'form', at: '2026-01-01T00:00:00Z' };
  for (const email of [left, forgotten]) {
    expect(await add(email)).toMatchObject({ added: 0, left: [email] });
    expect(await add(email, { consent: old })).toMatchObject({ added: 0, left: [email] });
    expect(await mails(email)).toBe(0);
    const consent = { source: 'form', at: new Date().toISOString() };
    expect(await add(email, { consent })).toEqual({ added: 1, alreadyIn: 0, notFound: [] });
    expect(await mails(email)).toBe(1);
  }
  // People whom the workspace has unsubscribed, or a file that knows of no consent, are asked.
  const csv = `email,status\n${waits},pending\n`;
  const headers = { 'content-type': 'text/csv' };
  const { id: importId } = await send('POST', '/v1/audiences', { name: 'None' });
  const started = await service.ask({
    method: 'POST',
    path: `/v1/contacts/import?audienceId=${importId}`,
    key: live,
    body: csv,
    headers,
  });
  expect(started.status).toBe(202);
  await eventually('the import', async () => {
    const { status } = await service.ask({ path: `/v1/contacts/${waits}`, key: live });
    return status === 200 ? true : undefined;
  });
  expect((await send('GET', `/v1/contacts/${waits}`)).status).toBe('unsubscribed');
  for (const email of [byWorkspace, waits]) {
    expect(await add(email)).toMatchObject({ added: 1 });
    expect(await mails(email)).toBe(1);
  }
});

test('who leaves again, by the page or by the link of the same email, is not brought back by a consent from before', async () => {
  for (const [name, reasons] of Object.entries({
    left: ['unsubscribed'],
    bounced: ['unsubscribed', 'bounced'],
  }))
    for (const way of ['page', 'link']) {
      const email = `${name}-${way}@again.example`;
      await send('POST', '/v1/contacts', { email });
      const mail = { from: 'shop@sender.example', to: email, subject: 'News', text: '{{unsubscribeUrl}}' };
      const { id: emailId } = await send('POST', '/v1/emails', mail);
      await eventually('the email', async () =>
        (await send('GET', `/v1/emails/${emailId}`)).status === 'delivered' ? true : undefined,
      );
      const token = linkToken(
        'unsubscribe',
        { emailId, recipient: 0, target: `${service.workspaceId} ${email}` },
        SIGNER,
      );
      const leave = () =>
        way === 'page'
          ? leaveEverything(email)
          : service.ask({ method: 'POST', path: `/t/u/${token}`, body: 'List-Unsubscribe=One-Click' });
      await leave();
      for (const reason of reasons) await suppress(email, reason);
      // They left long ago, and agreed yesterday.
      await service.service.database.query(
        `update contacts set unsubscribed_at = now() - interval '9 days' where email = $1`,
        [email],
      );
      await service.service.database.query(
        `update contact_activity set at = now() - interval '9 days' where type = 'unsubscribed'`,
      );
      await service.service.database.query(
        `update suppressions set created_at = now() - interval '9 days', unsubscribed_at = unsubscribed_at - interval '9 days' where address = $1`,
        [email],
      );
      await leave();
      const body = {
        status: 'subscribed',
        consent: { source: 'form', at: new Date(Date.now() - 86_400_000).toISOString() },
      };
      const told = await service.ask({ method: 'PATCH', path: `/v1/contacts/${email}`, key: live, body });
      expect([email, told.status]).toEqual([email, 422]);
    }
});

test('an export tells which audiences a person has left, and when; not those that the workspace removed them from', async () => {
  const email = 'exported@left.example';
  await send('POST', '/v1/contacts', { email });
  const audiences = ['Left alone', 'Removed from', 'Joined again'];
  const ids: string[] = [];
  for (const name of audiences) {
    const { id } = await send('POST', '/v1/audiences', { name, public: true });
    await send('POST', `/v1/audiences/${id}/contacts`, { emails: [email] });
    ids.push(id);
  }
  await send('DELETE', `/v1/audiences/${ids[1]}/contacts/${email}`);
  const save = (shown: readonly string[], chosen: readonly string[]) =>
    submit(
      email,
      new URLSearchParams([
        ['action', 'save'],
        ...shown.map((id): [string, string] => ['shown', id]),
        ...chosen.map((id): [string, string] => ['audience', id]),
      ]).toString(),
    );
  await save(
    ids.filter((_, at) => at !== 1),
    [],
  );
  await save(ids.slice(2), ids.slice(2));
  const left: { audienceId: string; at: string }[] = await send(
    'GET',
    `/v1/contacts/${email}/activity?type=left`,
  );
  const at = left.find(({ audienceId }) => audienceId === ids[0])?.at;
  const { text } = await service.ask({ path: `/v1/contacts/export?email=${email}`, key: live });
  const [header, row] = new CsvReader({ delimiter: ',' }).read(text, true);
  const cell = row?.cells[header?.cells.indexOf('left_audiences') ?? -1];
  expect(JSON.parse(cell ?? '')).toEqual({ 'Left alone': at });
});
