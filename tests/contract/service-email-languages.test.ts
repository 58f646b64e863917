import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import PostalMime from 'postal-mime';
import { PAGE_LANGUAGES } from '../../src/platform/text/language.ts';
import { TEXTS } from '../../src/sending/service-emails/texts/all-texts.ts';
import { type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { ORIGIN, PASSWORD } from './a-browser.ts';

let sink: Sink;
let service: LiveService;

beforeAll(async () => {
  sink = await startSink();
  service = await startLiveService({ transport: relayTo(sink.port) });
  await service.live.patch('/v1/workspace', { name: 'Acme', defaultFrom: 'Acme <hello@sender.example>' });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

/** The newest email to an address, once there are that many. */
const mailTo = async (address: string, copies = 1) => {
  const { raw } = await eventually(`an email to ${address}`, async () => {
    const mails = sink.received.filter(({ to }) => to.includes(address));
    return mails.length >= copies ? mails.at(-1) : undefined;
  });
  return PostalMime.parse(raw);
};

const inBrowser = async (method: string, path: string, body: object | null, cookie = '') => {
  const answer = await fetch(`${service.url}/app/api${path}`, {
    method,
    headers: { origin: ORIGIN, 'content-type': 'application/json', cookie },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const cookies = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { status: answer.status, data: text === '' ? null : JSON.parse(text).data, cookies };
};

const invite = async (email: string, more: object = {}) => {
  const { status, body } = await service.live.post('/v1/members/invitations', {
    email,
    role: 'admin',
    ...more,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.data;
};
const accept = (url: string, name: string) =>
  inBrowser('POST', '/invitation', { token: url.split('#token=')[1], name, password: PASSWORD });
const languagesOf = ({ language, emailLanguage }: Record<string, unknown>) => [language, emailLanguage];
const memberOf = async (email: string) =>
  (await service.live.get('/v1/members')).body.data.find((each: { email: string }) => each.email === email);

describe('an invitation', () => {
  const invitations = new Map<string, Promise<{ email: string; url: string }>>();
  beforeAll(async () => {
    // Together, because they leave together.
    for (const language of PAGE_LANGUAGES)
      invitations.set(language, invite(`in-${language}@people.example`, { language }));
    await Promise.all(invitations.values());
  });

  test.each(PAGE_LANGUAGES)('is mailed in the language that the inviter has chosen: %s', async (language) => {
    const invited = (await invitations.get(language)) ?? { email: '', url: '' };
    expect(languagesOf({ ...invited })).toEqual([language, language]);
    const mail = await mailTo(invited.email);
    const words = TEXTS[language].invitation({ workspace: 'Acme', role: 'ROLE', until: 'END' });
    expect(mail.subject).toBe(words.subject);
    expect(mail.html).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`);
    expect(mail.text).toContain(words.foot);
    expect(mail.text).toContain(invited.url);
  });

  test('tells a fallback: to the language that contains it, that of the workspace, English', async () => {
    expect(languagesOf(await invite('a@people.example', { language: 'pt-br' }))).toEqual(['pt-BR', 'pt']);
    expect(languagesOf(await invite('b@people.example', { language: 'ko' }))).toEqual(['ko', 'en']);
    expect(languagesOf(await invite('c@people.example'))).toEqual([null, 'en']);
    const { status, body } = await service.live.patch('/v1/workspace', { language: 'sv-FI' });
    expect([status, ...languagesOf(body.data)]).toEqual([200, 'sv-FI', 'sv']);
    expect(languagesOf(await invite('d@people.example', { language: 'ko' }))).toEqual(['ko', 'sv']);
    expect(languagesOf(await invite('e@people.example', { language: null }))).toEqual([null, 'sv']);
    expect((await mailTo('e@people.example')).subject).toBe('Inbjudan till Acme');
    const { data } = (await service.live.get('/v1/members/invitations')).body;
    const listed = data.find((each: { email: string }) => each.email === 'd@people.example');
    expect(languagesOf(listed)).toEqual(['ko', 'sv']);
    await service.live.patch('/v1/workspace', { language: null });
  });

  test('a repeated request tells what the first one told', async () => {
    const ask = () =>
      service.live.post(
        '/v1/members/invitations',
        { email: 'again@people.example', role: 'viewer', language: 'nl' },
        { 'idempotency-key': 'an-invitation' },
      );
    const first = await ask();
    await service.live.patch('/v1/workspace', { language: 'fr' });
    expect((await ask()).body.data).toEqual(first.body.data);
    await service.live.patch('/v1/workspace', { language: null });
  });
});

describe('a member', () => {
  test('starts with the language of the invitation, and gets notices and warnings in it', async () => {
    const { url, email } = await invite('lea@people.example', { language: 'fr' });
    const { cookies } = await accept(url, 'Lea');
    await mailTo(email);
    expect(languagesOf(await memberOf(email))).toEqual(['fr', 'fr']);
    expect(languagesOf((await inBrowser('GET', '/session', null, cookies)).data.member)).toEqual([
      'fr',
      'fr',
    ]);
    await inBrowser('POST', '/password-reset/link', { email });
    expect((await mailTo(email, 2)).subject).toBe('Définir un nouveau mot de passe');

    const chosen = await inBrowser('PATCH', '/account', { language: 'ar-EG' }, cookies);
    expect(chosen.status).toBe(204);
    expect(languagesOf(await memberOf(email))).toEqual(['ar-EG', 'ar']);
    const change = { current: PASSWORD, new: 'another correct horse battery' };
    await inBrowser('PUT', '/account/password', change, cookies);
    const notice = await mailTo(email, 3);
    expect(notice.subject).toBe('تم تغيير كلمة مرور حسابك');
    expect(notice.html).toContain('dir="rtl"');

    await inBrowser('PATCH', '/account', { language: null }, cookies);
    await service.live.patch('/v1/workspace', { language: 'ja' });
    expect(languagesOf(await memberOf(email))).toEqual([null, 'ja']);
    await inBrowser('PUT', '/account/password', { current: change.new, new: PASSWORD }, cookies);
    expect((await mailTo(email, 4)).subject).toBe('アカウントのパスワードが変更されました');
    await service.live.patch('/v1/workspace', { language: null });
    const acts = (await service.live.get('/v1/audit-log?action=account.changed')).body.data;
    expect(acts.map(({ details }: { details: object }) => details)).toEqual([
      { language: null },
      { language: 'ar-EG' },
    ]);
  });

  test('keeps their language in a workspace that they join or create', async () => {
    const { url, email } = await invite('otto@people.example', { language: 'de' });
    const { cookies } = await accept(url, 'Otto');
    await service.live.patch(`/v1/members/${(await memberOf(email)).id}`, { role: 'owner' });
    const made = await inBrowser('POST', '/workspaces', { name: 'Second' }, cookies);
    const moved = await inBrowser('POST', `/workspaces/${made.data.id}/switch`, {}, cookies);
    const { data } = await inBrowser('GET', '/session', null, moved.cookies || cookies);
    expect([data.workspace.name, ...languagesOf(data.member)]).toEqual(['Second', 'de', 'de']);
  });

  test('gets a language from who may change members, without a change of role', async () => {
    const { url, email } = await invite('mia@people.example');
    await accept(url, 'Mia');
    const { id } = await memberOf(email);
    const changed = await service.live.patch(`/v1/members/${id}`, { language: 'pl' });
    expect([changed.status, changed.body.data.role, ...languagesOf(changed.body.data)]).toEqual([
      200,
      'admin',
      'pl',
      'pl',
    ]);
    const both = await service.live.patch(`/v1/members/${id}`, { role: 'viewer', language: null });
    expect([both.body.data.role, ...languagesOf(both.body.data)]).toEqual(['viewer', null, 'en']);
    const byTest = await service.test.patch(`/v1/members/${id}`, { language: 'pl' });
    expect(byTest.status).toBe(403);
    expect((await service.live.patch(`/v1/members/${id}`, {})).status).toBe(422);
    expect(
      (await service.live.patch('/v1/members/mem_01m7xj1rwp4sersf8ggsa354', { language: 'pl' })).status,
    ).toBe(404);
  });
});

test.each(['xx-Nowhere', 'd', `de-${'x'.repeat(33)}`, '', 'de-DE-1996'])(
  'a text that is no language is refused wherever one is chosen: %s',
  async (language) => {
    const { id } = (await service.live.get('/v1/members')).body.data[0];
    const { cookies } = await inBrowser('POST', '/session', {
      email: 'lea@people.example',
      password: PASSWORD,
    });
    for (const { status, body } of [
      await service.live.patch('/v1/workspace', { language }),
      await service.live.patch(`/v1/members/${id}`, { language }),
      await service.live.post('/v1/members/invitations', { email: 'x@y.example', role: 'viewer', language }),
    ]) {
      expect(status).toBe(422);
      expect(body.error.details.map(({ path }: { path: string }) => path)).toEqual(['/body/language']);
    }
    expect((await inBrowser('PATCH', '/account', { language }, cookies)).status).toBe(422);
  },
);

test('the mail that asks to confirm is in the language of the contact, else in that of the workspace', async () => {
  await service.live.patch('/v1/workspace', { language: 'it' });
  const { id } = (await service.live.post('/v1/audiences', { name: 'Rivista', public: true, confirm: true }))
    .body.data;
  for (const [email, more] of [
    ['plain@readers.example', {}],
    ['german@readers.example', { properties: { language: 'de' } }],
  ] as const) {
    const contact = await service.live.post('/v1/contacts', { email, ...more });
    const asked = await service.live.post(`/v1/audiences/${id}/contacts`, {
      contactIds: [contact.body.data.id],
    });
    expect(asked.status).toBeLessThan(300);
  }
  expect((await mailTo('plain@readers.example')).subject).toBe('Confermi, per favore: Rivista');
  expect((await mailTo('german@readers.example')).subject).toBe('Bitte bestätigen: Rivista');
  await service.live.patch('/v1/workspace', { language: null });
});
