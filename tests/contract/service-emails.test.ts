import { afterAll, beforeAll, expect, test } from 'bun:test';
import PostalMime from 'postal-mime';
import { totpCode } from '../../src/http/auth/passwords/totp.ts';
import { type Received, type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { rowsOf } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { createPasskey } from '../support/passkey.ts';
import { ORIGIN, PASSWORD } from './a-browser.ts';

let sink: Sink;
let service: LiveService;
let operators: LiveService;

beforeAll(async () => {
  sink = await startSink();
  const transport = relayTo(sink.port);
  service = await startLiveService({ transport });
  operators = await startLiveService({
    transport,
    environment: { SERVICE_FROM: 'Mail <mail@operator.example>' },
  });
  await service.live.patch('/v1/workspace', { name: 'Acme', defaultFrom: 'Acme <hello@sender.example>' });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await operators[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

/**
 * The service looks for its emails every two seconds, as the first test shows. The others do not wait for
 * that.
 */
const senderOf = (at: LiveService) => at.service.duties.find(({ name }) => name === 'serviceEmailSender');

const mailTo = (
  address: string,
  copies = 1,
  at: readonly LiveService[] = [service, operators],
): Promise<Received> =>
  eventually(`an email to ${address}`, async () => {
    for (const each of at) await senderOf(each)?.run();
    const mails = sink.received.filter(({ to }) => to.includes(address));
    return mails.length >= copies ? mails.at(-1) : undefined;
  });

const post = async (at: LiveService, path: string, body: object) => {
  const answer = await fetch(`${at.url}/app/api${path}`, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
};

const invite = async (at: LiveService, email: string) => {
  const { status, body } = await at.live.post('/v1/members/invitations', { email, role: 'admin' });
  expect(status).toBe(201);
  return body.data;
};

const waiting = (at: LiveService) => rowsOf(at.service.database, 'select sealed from service_emails');
const allGone = (at: LiveService) =>
  eventually('an empty queue', async () => {
    await senderOf(at)?.run();
    return (await waiting(at)).length === 0 ? true : undefined;
  });

test('an invitation is mailed from the workspace, signed, and is no email of the workspace', async () => {
  const { url, email } = await invite(service, 'ada@people.example');
  const received = await mailTo(email, 1, []);
  const mail = await PostalMime.parse(received.raw);
  expect(mail.from).toEqual({ name: 'Acme', address: 'hello@sender.example' });
  expect(mail.subject).toBe('Join Acme');
  expect(mail.text).toContain(url);
  expect(mail.html).toContain(`href="${url}"`);
  expect(mail.html).toContain('prefers-color-scheme: dark');
  const fields = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));
  expect(fields['auto-submitted']).toBe('auto-generated');
  expect(fields['dkim-signature']).toContain('d=sender.example');
  await allGone(service);
  // The emails of the workspace must not show its readers a way in.
  expect((await service.live.get('/v1/emails')).body.data).toEqual([]);
  expect((await service.live.get('/v1/captured')).body.data).toEqual([]);
  expect((await service.live.get('/v1/workspace')).body.data.usage.emailsSent).toBe(0);
  const accepted = await post(service, '/invitation', {
    token: url.split('#token=')[1],
    name: 'Ada',
    password: PASSWORD,
  });
  expect(accepted.status).toBe(201);
});

test('a link for a new password is mailed to people with an account alone', async () => {
  const unknown = await post(service, '/password-reset/link', { email: 'nobody@people.example' });
  const known = await post(service, '/password-reset/link', { email: 'Ada@people.example' });
  expect(known).toEqual(unknown);
  expect(known.status).toBe(200);
  const mail = await PostalMime.parse((await mailTo('ada@people.example', 2)).raw);
  const [, token = ''] = /reset#token=([\w-]+)/.exec(mail.text ?? '') ?? [];
  const password = 'another correct horse battery';
  expect((await post(service, '/password-reset', { token, password })).status).toBe(200);
  expect((await post(service, '/password-reset', { token, password })).status).toBe(400);
  const credentials = { email: 'ada@people.example', password };
  expect((await post(service, '/session', credentials)).status).toBe(200);
  expect((await post(service, '/session', { ...credentials, password: PASSWORD })).status).toBe(401);
  const notice = await PostalMime.parse((await mailTo('ada@people.example', 3)).raw);
  expect(notice.subject).toBe('A new password was set for your account by a link');
  // At most three links are valid at the same time, whatever asks for them.
  for (let asked = 0; asked < 5; asked++)
    await post(service, '/password-reset/link', { email: 'ada@people.example' });
  await mailTo('ada@people.example', 6);
  await invite(service, 'last@people.example');
  await mailTo('last@people.example');
  await allGone(service);
  expect(sink.received.filter(({ to }) => to.includes('ada@people.example'))).toHaveLength(6);
  expect(sink.received.some(({ to }) => to.includes('nobody@people.example'))).toBe(false);
});

test('a person gets a mail for each change of how they sign in, one for a repeated code, and none for other refusals', async () => {
  const { url, email } = await invite(service, 'cleo@people.example');
  const accepted = await fetch(`${service.url}/app/api/invitation`, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'application/json' },
    body: JSON.stringify({ token: url.split('#token=')[1], name: 'Cleo', password: PASSWORD }),
  });
  const cookie = accepted.headers.get('set-cookie')?.split(';')[0] ?? '';
  const change = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${service.url}/app/api/account${path}`, {
      method,
      headers: { origin: ORIGIN, 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, data: text === '' ? null : JSON.parse(text).data };
  };
  const next = 'another correct horse battery';
  expect((await change('DELETE', '/totp', { code: '123456' })).status).toBe(204);
  expect((await change('PUT', '/password', { current: 'no', new: next })).status).toBe(403);
  expect((await change('PUT', '/password', { current: PASSWORD, new: next })).status).toBe(204);
  const { secret } = (await change('POST', '/totp', {})).data;
  expect((await change('POST', '/totp/confirm', { code: '000000' })).status).toBe(422);
  const step = Math.floor(Date.now() / 30_000);
  const code = (later: number) => ({ code: totpCode(secret, step + later) });
  expect((await change('POST', '/totp/confirm', code(0))).status).toBe(200);
  // The code was used when it was confirmed: a repetition proves that another person has seen it.
  for (const again of [code(0), code(0)]) {
    const told = await post(service, '/session', { email, password: next, ...again });
    expect(told.status).toBe(401);
  }
  expect((await change('DELETE', '/totp', code(1))).status).toBe(204);
  const passkey = createPasskey();
  const { challenge } = (await change('POST', '/passkeys/options', { password: next })).data;
  const response = passkey.enrol({ challenge, origin: ORIGIN, host: 'localhost' });
  const added = await change('POST', '/passkeys', { name: 'Telephone', response });
  expect(added.status).toBe(201);
  expect((await change('DELETE', `/passkeys/${added.data.id}`, {})).status).toBe(204);
  await mailTo(email, 7);
  await allGone(service);
  const mails = sink.received.filter(({ to }) => to.includes(email));
  const subjects = await Promise.all(mails.map(async ({ raw }) => (await PostalMime.parse(raw)).subject));
  // They leave side by side, so that any may arrive first.
  expect(subjects.sort()).toEqual([
    'A passkey was added to your account',
    'A passkey was removed from your account',
    'A used code of your authenticator was tried again and refused',
    'An authenticator was added to your account',
    'Join Acme',
    'The authenticator was removed from your account',
    'The password of your account was changed',
  ]);
});

test('a workspace can do without its emails, and an invitation still has its link', async () => {
  const { status, body } = await service.live.patch('/v1/workspace', {
    serviceEmails: { invitation: false },
  });
  expect([status, body.data.serviceEmails]).toEqual([
    200,
    { invitation: false, domainLost: true, webhookDisabled: true, campaignPaused: true },
  ]);
  const { url } = await invite(service, 'quiet@people.example');
  expect(url).toContain('#token=');
  expect(await waiting(service)).toEqual([]);
  const refused = await service.live.patch('/v1/workspace', { serviceEmails: { passwordReset: false } });
  expect(refused.status).toBe(422);
});

test('without a sender of the workspace the operator’s is used, and nothing of a link is stored in clear', async () => {
  const { email } = await invite(operators, 'bob@people.example');
  const stored = JSON.stringify(await waiting(operators));
  expect(stored).not.toContain('bob@');
  expect(stored).not.toContain('token');
  const mail = await PostalMime.parse((await mailTo(email)).raw);
  expect(mail.from).toEqual({ name: 'Mail', address: 'mail@operator.example' });

  // A returned mail goes to the domain of the sender, and a link for a new password opens more than one
  // workspace.
  await operators.live.patch('/v1/workspace', { name: 'Acme', defaultFrom: 'Acme <hello@sender.example>' });
  const { url } = await invite(operators, 'cy@people.example');
  const invited = await PostalMime.parse((await mailTo('cy@people.example')).raw);
  expect(invited.from?.address).toBe('hello@sender.example');
  const person = { token: url.split('#token=')[1], name: 'Cy', password: PASSWORD };
  expect((await post(operators, '/invitation', person)).status).toBe(201);
  await post(operators, '/password-reset/link', { email: 'cy@people.example' });
  const reset = await PostalMime.parse((await mailTo('cy@people.example', 2)).raw);
  expect([reset.subject, reset.from?.address]).toEqual(['Set a new password', 'mail@operator.example']);
});
