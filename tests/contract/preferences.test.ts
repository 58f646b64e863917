import { afterAll, beforeAll, expect, test } from 'bun:test';
import { confirmationPath, preferencesPath } from '../../src/audience/preferences/links.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { linkToken } from '../../src/sending/tracking/api.ts';
import { type RealService, startRealService } from './real-service.ts';

const SIGNER = createSigner('only-for-tests-only-for-tests-only');

let service: RealService;
let live: string;

beforeAll(async () => {
  service = await startRealService();
  live = await service.keyWith('live', ['*']);
  await send('POST', '/v1/domains', { name: 'sender.example' });
  await send('PATCH', '/v1/workspace', { defaultFrom: 'Acme <news@sender.example>' });
});
afterAll(() => service[Symbol.asyncDispose]());

const send = async (method: string, path: string, body?: unknown) => {
  const told = await service.ask({ method, path, key: live, ...(body !== undefined && { body }) });
  if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
  return told.body?.data;
};
const contact = (email: string) => send('GET', `/v1/contacts/${email}`);
const pageOf = (key: string) =>
  preferencesPath(SIGNER, { workspaceId: service.workspaceId, livemode: true, key });
const open = (path: string, headers: Record<string, string> = {}) => service.ask({ path, headers });
const submit = (path: string, fields: readonly (readonly [string, string])[]) =>
  service.ask({
    method: 'POST',
    path,
    body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const suppressed = async (address: string) =>
  (await send('GET', `/v1/suppressions?address=${address}`))[0]?.reason ?? null;

test('the page shows public audiences alone; saving joins and leaves what it showed', async () => {
  const { id } = await send('POST', '/v1/contacts', { email: 'ada@example.com' });
  const [news, offers, secret] = await Promise.all(
    [
      { name: 'News <b>', public: true },
      { name: 'Offers', description: 'Now & then', public: true },
      { name: 'Secret' },
    ].map((body) => send('POST', '/v1/audiences', body)),
  );
  for (const audience of [news, secret])
    await send('POST', `/v1/audiences/${audience.id}/contacts`, { contactIds: [id] });
  const path = pageOf('ada@example.com');
  const page = await open(path);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.text).toContain(`value="${news.id}" checked`);
  expect(page.text).toContain(`value="${offers.id}">`);
  expect(page.text).toContain('News &#60;b&#62;');
  for (const hidden of ['Secret', 'ada@', '<script', 'http://', 'https://'])
    expect(page.text).not.toContain(hidden);
  const saved = await submit(path, [
    ['action', 'save'],
    ['shown', news.id],
    ['shown', offers.id],
    ['audience', offers.id],
  ]);
  expect(saved.text).toContain('Your choice is saved.');
  const after = [secret.id, offers.id].toSorted();
  expect((await contact('ada@example.com')).audienceIds).toEqual(after);
  // Audiences that the page did not show stay as they are, and a private audience takes no one.
  await submit(path, [
    ['action', 'save'],
    ['audience', news.id],
    ['audience', 'aud_x'],
  ]);
  expect((await contact('ada@example.com')).audienceIds).toEqual(after);
  const types = (await send('GET', `/v1/contacts/${id}/activity`)).map(({ type }: { type: string }) => type);
  expect(types.filter((type: string) => type === 'joined' || type === 'left')).toHaveLength(4);
});

test('everything off suppresses, and the person alone comes back', async () => {
  await send('POST', '/v1/contacts', { email: 'off@example.com' });
  const path = pageOf('off@example.com');
  await submit(path, [['action', 'off']]);
  expect((await submit(path, [['action', 'off']])).text).toContain('You are unsubscribed from everything.');
  expect((await contact('off@example.com')).status).toBe('unsubscribed');
  expect(await suppressed('off@example.com')).toBe('unsubscribed');
  expect((await submit(path, [['action', 'again']])).text).toContain('You get emails again.');
  expect((await contact('off@example.com')).status).toBe('subscribed');
  expect(await suppressed('off@example.com')).toBeNull();
  const [entry] = await send('GET', '/v1/contacts/off@example.com/activity?type=subscribed');
  expect(entry.data.source).toBe('preference page');
});

test('who comes back has left the lists that were unticked, also when the rest cannot be written', async () => {
  const { database } = service.service;
  const { id: audienceId } = await send('POST', '/v1/audiences', { name: 'Unticked', public: true });
  const { id } = await send('POST', '/v1/contacts', { email: 'back@example.com' });
  await send('POST', `/v1/audiences/${audienceId}/contacts`, { contactIds: [id] });
  const path = pageOf('back@example.com');
  await submit(path, [['action', 'off']]);
  expect((await contact('back@example.com')).audienceIds).toContain(audienceId);
  await database.query(
    "alter table contacts add constraint refuses check (status <> 'subscribed') not valid",
    [],
  );
  await submit(path, [
    ['action', 'again'],
    ['shown', audienceId],
  ]);
  await database.query('alter table contacts drop constraint refuses', []);
  const left = await contact('back@example.com');
  expect([left.status, left.audienceIds.includes(audienceId)]).toEqual(['unsubscribed', false]);
});

test('a GET or a HEAD changes nothing, whatever its query, nor does a form without a choice', async () => {
  await send('POST', '/v1/contacts', { email: 'still@example.com' });
  const path = pageOf('still@example.com');
  for (const method of ['GET', 'HEAD']) await service.ask({ method, path: `${path}?action=off` });
  for (const fields of [[], [['action', 'burn']]] as [string, string][][])
    expect((await submit(path, fields)).status).toBe(200);
  expect((await contact('still@example.com')).status).toBe('subscribed');
});

test('who is no contact may still have everything stopped', async () => {
  const path = pageOf('stranger@example.com');
  expect((await submit(path, [['action', 'off']])).text).toContain('You are unsubscribed from everything.');
  expect(await suppressed('stranger@example.com')).toBe('unsubscribed');
  expect((await submit(path, [['action', 'again']])).status).toBe(200);
  expect(await suppressed('stranger@example.com')).toBe('unsubscribed');
});

test('it speaks the language of the browser, English to everybody else', async () => {
  const path = pageOf('ada@example.com');
  const titleIn = async (language: string) =>
    /<html lang="(..)" dir="ltr">.*<title>(.*)<\/title>/s
      .exec((await open(path, { 'accept-language': language })).text)
      ?.slice(1);
  expect(await titleIn('de-AT,de;q=0.9,en;q=0.8')).toEqual(['de', 'E-Mail-Einstellungen']);
  for (const other of ['en-GB,de;q=0.5', 'fi, *', 'de;q=0', ';q=', ''])
    expect(await titleIn(other)).toEqual(['en', 'Email preferences']);
});

test('it shows the brand of the workspace, as text', async () => {
  const branding = {
    colour: '#0f766e',
    fontFamily: 'georgia',
    address: 'Main <Street> 1\nVienna',
    website: 'https://acme.example/',
  };
  await send('PATCH', '/v1/workspace', { name: 'Acme & Sons', branding });
  const { text, headers } = await open(pageOf('ada@example.com'));
  for (const shown of [
    'Acme &#38; Sons',
    '#0f766e',
    'font:16px/1.5 Georgia, Times, serif',
    'Main &#60;Street&#62; 1<br>Vienna',
  ])
    expect(text).toContain(shown);
  expect(text).toContain('href="https://acme.example/" rel="noreferrer noopener"');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('a changed token is INVALID_TOKEN everywhere, and one link is not another', async () => {
  const recipient = { workspaceId: service.workspaceId, livemode: true, key: 'ada@example.com' };
  const preferences = preferencesPath(SIGNER, recipient);
  const confirmation = confirmationPath(SIGNER, { ...recipient, audienceId: 'aud_0' });
  const wrong = [
    '/p/x',
    '/c/x',
    `${preferences}x`,
    preferences.replace(/^\/p\/./, '/p/X'),
    preferences.replace('/p/', '/c/'),
    confirmation.replace('/c/', '/p/'),
    // Signed, but for an audience that is not there.
    confirmation,
  ];
  for (const path of wrong) {
    for (const told of [await open(path), await submit(path, [['action', 'off']])])
      expect([path, told.status, told.body?.error.code]).toEqual([path, 400, 'INVALID_TOKEN']);
    // A person gets a page that can be read.
    const page = await open(path, { accept: 'text/html,*/*', 'accept-language': 'de' });
    expect([path, page.status, page.headers.get('content-type')]).toEqual([
      path,
      400,
      'text/html; charset=utf-8',
    ]);
    expect(page.text).toContain('Dieser Link ist nicht gültig');
  }
});

test('double opt-in: who was asked is in the audience once the link was used, and not before', async () => {
  const { id } = await send('POST', '/v1/audiences', { name: 'Letter', confirm: true, public: true });
  await send('POST', '/v1/contacts', { email: 'opt@example.com', properties: { language: 'de' } });
  await send('PATCH', '/v1/contacts/opt@example.com', { status: 'unsubscribed' });
  const add = () => send('POST', `/v1/audiences/${id}/contacts`, { emails: ['opt@example.com'] });
  expect(await add()).toEqual({ added: 1, alreadyIn: 0, notFound: [] });
  for (let times = 0; times < 4; times++) expect(await add()).toMatchObject({ added: 0, alreadyIn: 1 });
  const mails = await send('GET', '/v1/emails?to=opt@example.com');
  expect(mails).toHaveLength(3);
  const { text, subject, from } = await send('GET', `/v1/emails/${mails[0].id}`);
  expect([subject, from]).toEqual(['Bitte bestätigen: Letter', 'Acme <news@sender.example>']);
  expect((await send('GET', `/v1/audiences/${id}`)).contactCount).toBe(0);
  expect((await contact('opt@example.com')).audienceIds).toEqual([]);
  const defaultFrom = async (from: string | null) => send('PATCH', '/v1/workspace', { defaultFrom: from });
  await defaultFrom(null);
  const members = { method: 'POST', path: `/v1/audiences/${id}/contacts`, key: live };
  const unsent = await service.ask({ ...members, body: { emails: ['ada@example.com'] } });
  expect([unsent.status, unsent.body.error.code]).toEqual([409, 'CONFLICT']);
  await defaultFrom('Acme <news@sender.example>');

  // A reader of the mail could confirm for its recipient.
  const shown = new URL(/https?:\S+/.exec(text)?.[0] ?? '').pathname;
  expect([shown, (await submit(shown, [])).status]).toEqual(['/c/preview', 400]);
  const asked = { workspaceId: service.workspaceId, livemode: true, key: 'opt@example.com' };
  const path = confirmationPath(SIGNER, { ...asked, audienceId: id, language: 'de' });
  expect((await open(path)).text).toContain('Möchten Sie „Letter“ bekommen?');
  expect((await contact('opt@example.com')).audienceIds).toEqual([]);
  for (let times = 0; times < 2; times++)
    expect((await submit(path, [])).text).toContain('Sie stehen auf der Liste');
  expect(await contact('opt@example.com')).toMatchObject({ audienceIds: [id], status: 'subscribed' });
  expect((await send('GET', '/v1/contacts/opt@example.com/activity?type=joined')).length).toBe(1);
  await send('DELETE', `/v1/audiences/${id}/contacts/opt@example.com`);
  expect((await submit(path, [])).status).toBe(400);
  // A person who is no longer asked does not see the question either.
  expect((await open(path)).status).toBe(400);
});

test('the consent of the first day, which a program that copies contacts sends each night, undoes no leaving of a person', async () => {
  const email = 'copied@example.com';
  await send('POST', '/v1/contacts', { email });
  await submit(pageOf(email), [['action', 'off']]);
  const again = (at: string) =>
    service.ask({
      method: 'PATCH',
      path: `/v1/contacts/${email}`,
      key: live,
      body: { status: 'subscribed', consent: { source: 'form', at }, firstName: 'x' },
    });
  const stale = await again('2026-01-01T00:00:00Z');
  expect([stale.status, stale.body.error.details[0].path]).toEqual([422, '/body/consent/at']);
  // A workspace that says the same once more has not become the one who did it.
  await send('PATCH', `/v1/contacts/${email}`, { status: 'unsubscribed' });
  expect((await again('2026-01-01T00:00:00Z')).status).toBe(422);
  expect(await contact(email)).toMatchObject({ status: 'unsubscribed', firstName: null });
  expect((await again(new Date().toISOString())).status).toBe(200);
});

test('a person comes back by their own choice, whatever the clock said that noted their leaving', async () => {
  const email = 'clock@example.com';
  await send('POST', '/v1/contacts', { email });
  await submit(pageOf(email), [['action', 'off']]);
  await service.service.database.query(
    "update contacts set unsubscribed_at = now() + interval '1 hour' where email = $1",
    [email],
  );
  await submit(pageOf(email), [['action', 'again']]);
  expect((await contact(email)).status).toBe('subscribed');
});

test('who left everything and confirms one list is on that one alone', async () => {
  const email = 'once@example.com';
  await send('POST', '/v1/contacts', { email });
  const add = (id: string, more: object = {}) =>
    send('POST', `/v1/audiences/${id}/contacts`, { emails: [email], ...more });
  const [old, secret, fresh, later] = await Promise.all(
    [
      { name: 'Old', public: true },
      { name: 'Kept secret' },
      { name: 'Fresh', confirm: true, public: true },
      { name: 'Later', confirm: true },
    ].map((body) => send('POST', '/v1/audiences', body)),
  );
  for (const { id } of [old, secret, later]) await add(id);
  await submit(pageOf(email), [['action', 'off']]);
  await add(fresh.id, { consent: { source: 'form', at: new Date().toISOString() } });
  const linkTo = ({ id: audienceId }: { id: string }) =>
    confirmationPath(SIGNER, { workspaceId: service.workspaceId, livemode: true, key: email, audienceId });
  // A link that holds for no list changes none.
  expect((await submit(linkTo({ id: 'aud_000000000000000000000000' }), [])).status).toBe(400);
  expect((await contact(email)).audienceIds).toEqual([old.id, secret.id].toSorted());
  for (let times = 0; times < 2; times++) expect((await submit(linkTo(fresh), [])).status).toBe(200);
  expect(await contact(email)).toMatchObject({ status: 'subscribed', audienceIds: [fresh.id] });
  // Adding the person to a list that they left takes a consent to it.
  expect(await add(old.id)).toMatchObject({ added: 0, left: [email] });
  // A list that asked before has its own answer, and takes no other away.
  await submit(linkTo(later), []);
  expect((await contact(email)).audienceIds).toEqual([fresh.id, later.id].toSorted());
});

test('a request to leave is carried out whatever its body says it is', async () => {
  const { id } = await send('POST', '/v1/audiences', { name: 'Any body' });
  const types = [
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded; charset=ISO-8859-1',
    'application/octet-stream',
    'application/json',
    null,
  ];
  for (const [index, type] of types.entries()) {
    const email = `any-${index}@example.com`;
    await send('POST', '/v1/contacts', { email });
    await send('POST', `/v1/audiences/${id}/contacts`, { emails: [email] });
    const target = `${service.workspaceId} ${email} ${id} cmp_1`;
    const link = { emailId: 'em_000000000000000000000000', recipient: 0, target };
    const told = await service.ask({
      method: 'POST',
      path: `/t/u/${linkToken('unsubscribe', link, SIGNER)}`,
      body: 'List-Unsubscribe=One-Click',
      headers: type === null ? {} : { 'content-type': type },
    });
    expect([type, told.status, (await contact(email)).audienceIds]).toEqual([type, 200, []]);
  }
});

test('one click leaves the audience of a campaign and no other; without an audience it is everything', async () => {
  await send('POST', '/v1/contacts', { email: 'one@example.com' });
  const [left, kept] = await Promise.all(['L', 'K'].map((name) => send('POST', '/v1/audiences', { name })));
  for (const { id } of [left, kept])
    await send('POST', `/v1/audiences/${id}/contacts`, { emails: ['one@example.com'] });
  const pathOf = (more: string) =>
    `/t/u/${linkToken('unsubscribe', { emailId: 'em_000000000000000000000000', recipient: 0, target: `${service.workspaceId} one@example.com${more}` }, SIGNER)}`;
  const path = pathOf(` ${left.id} cmp_1`);
  await open(path);
  expect((await contact('one@example.com')).audienceIds).toHaveLength(2);
  for (let times = 0; times < 2; times++) {
    const told = await submit(path, [['List-Unsubscribe', 'One-Click']]);
    expect([told.status, told.text.includes('href="/p/')]).toEqual([200, true]);
  }
  expect(await contact('one@example.com')).toMatchObject({ status: 'subscribed', audienceIds: [kept.id] });
  const [entry] = await send('GET', '/v1/contacts/one@example.com/activity?type=left');
  expect(entry.data).toEqual({ source: 'oneClick', campaignId: 'cmp_1' });
  const dynamic = await send('POST', '/v1/audiences', {
    name: 'D',
    type: 'dynamic',
    filter: { field: 'status', operator: 'eq', value: 'subscribed' },
  });
  await submit(pathOf(` ${dynamic.id} cmp_1`), [['List-Unsubscribe', 'One-Click']]);
  expect((await contact('one@example.com')).status).toBe('unsubscribed');
});

test.each([false, true])(
  'a person who left an audience joins it again only with a consent (confirm: %p)',
  async (confirm) => {
    const email = `back-${confirm}@example.com`;
    const { id: contactId } = await send('POST', '/v1/contacts', { email });
    const audience = await send('POST', '/v1/audiences', {
      name: `Left ${confirm}`,
      public: true,
      confirm: false,
    });
    const path = `/v1/audiences/${audience.id}/contacts`;
    const page = pageOf(email);
    await send('POST', path, { emails: [email] });
    await submit(page, [
      ['action', 'save'],
      ['shown', audience.id],
    ]);
    await send('PATCH', `/v1/audiences/${audience.id}`, { confirm });
    const names = { contactIds: [contactId], emails: [email, 'none@example.com'] };
    const out = { added: 0, alreadyIn: 0, notFound: ['none@example.com'], left: [contactId, email] };
    for (let times = 0; times < 2; times++) expect(await send('POST', path, names)).toEqual(out);
    expect((await contact(email)).audienceIds).toEqual([]);
    expect(await send('GET', `/v1/emails?to=${email}`)).toEqual([]);
    const wrong = await service.ask({
      method: 'POST',
      path,
      key: live,
      body: { ...names, consent: { source: 'A form', at: '2999-01-01T00:00:00Z' } },
    });
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([422, '/body/consent/at']);
    // The consent with which the person came is none for coming back.
    for (const at of ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00+16:00'])
      expect(await send('POST', path, { ...names, consent: { source: 'A form', at } })).toEqual(out);
    const consent = { source: 'A form', at: new Date().toISOString() };
    expect(await send('POST', path, { ...names, consent })).toEqual({
      added: 1,
      alreadyIn: 0,
      notFound: ['none@example.com'],
    });
    expect((await contact(email)).audienceIds).toEqual(confirm ? [] : [audience.id]);
    expect(await send('GET', `/v1/emails?to=${email}`)).toHaveLength(confirm ? 1 : 0);
    if (confirm) return;
    // A dynamic audience of the workspace adds entries in the background.
    const joined: { audienceId: string; data: object }[] = await send(
      'GET',
      `/v1/contacts/${contactId}/activity?type=joined`,
    );
    expect(joined.find(({ audienceId }) => audienceId === audience.id)?.data).toEqual({ consent });
  },
);
