import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { linkToken } from '../../src/sending/tracking/api.ts';
import { eventually } from '../support/eventually.ts';
import { importClient } from './import-client.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

const SIGNER = createSigner('only-for-tests-only-for-tests-only');

// A person's leaving of one audience outlives their contact, by a keyed hash of the address.

describe.each(BOTH_DATABASES)('who left an audience and was forgotten, on %s', (_, environment) => {
  let service: RealService;
  let live: string;

  beforeAll(async () => {
    service = await startRealService(environment);
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
  const audience = async (more: object = {}): Promise<string> =>
    (await send('POST', '/v1/audiences', { name: crypto.randomUUID(), ...more })).id;
  const join = (id: string, emails: readonly string[], consent?: object) =>
    send('POST', `/v1/audiences/${id}/contacts`, { emails, ...(consent && { consent }) });
  const create = (email: string) => send('POST', '/v1/contacts', { email });
  const forget = (email: string) => send('DELETE', `/v1/contacts/${email}`);
  const audiencesOf = async (email: string) => (await send('GET', `/v1/contacts/${email}`)).audienceIds;
  const leave = async (id: string, email: string) => {
    const target = `${service.workspaceId} ${email} ${id} cmp_1`;
    const link = { emailId: 'em_000000000000000000000000', recipient: 0, target };
    const told = await service.ask({
      method: 'POST',
      path: `/t/u/${linkToken('unsubscribe', link, SIGNER)}`,
      body: 'List-Unsubscribe=One-Click',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(told.status).toBe(200);
  };
  /** A person who has left an audience by a link, and was forgotten. */
  const gone = async (id: string, email: string) => {
    await create(email);
    await join(id, [email]);
    await leave(id, email);
    await forget(email);
  };
  const kept = async (id: string) =>
    (
      await service.service.database.query<{ hash: string }>(
        'select address_hash as hash from forgotten_leavings where audience_id = $1',
        [id],
      )
    ).map(({ hash }) => hash);
  const out = (email: string) => ({ added: 0, alreadyIn: 0, notFound: [], left: [email] });
  const IN = { added: 1, alreadyIn: 0, notFound: [] };
  const consentOf = (at: number) => ({ source: 'A form', at: new Date(at).toISOString() });

  test('stays out when added again, whichever way the contact is made, and may join others', async () => {
    const [left, other] = [await audience(), await audience()];
    const people = ['one@left.example', 'batch@left.example', 'file@left.example'];
    for (const email of people) await gone(left, email);
    const [one = '', batch = '', file = ''] = people;
    await create(one);
    await send('POST', '/v1/contacts/batch', { contacts: [{ email: batch }, { email: 'new@left.example' }] });
    const client = importClient(service, live);
    await client.imported(`email\n${file}\nunknown@left.example\n`, `?audienceId=${left}`);
    expect(await audiencesOf(file)).toEqual([]);
    expect(await audiencesOf('unknown@left.example')).toEqual([left]);
    await client.imported(`email\n${people.join('\n')}\n`, `?audienceId=${left}`);
    for (const email of people) {
      expect(await join(left, [email])).toEqual(out(email));
      expect(await join(other, [email])).toEqual(IN);
      expect(await audiencesOf(email)).toEqual([other]);
      const entries = await send('GET', `/v1/contacts/${email}/activity?type=left`);
      expect(entries).toMatchObject([{ audienceId: left, data: { source: 'earlier contact' } }]);
    }
    expect(await join(left, ['new@left.example'])).toEqual(IN);
  });

  test('stays out however often they are forgotten, until they consent, which is forgotten as well', async () => {
    const [id, email] = [await audience(), 'often@left.example'];
    await gone(id, email);
    for (let times = 0; times < 2; times++) {
      await create(email);
      expect(await join(id, [email])).toEqual(out(email));
      expect(await join(id, [email], consentOf(Date.now() - 86_400_000))).toEqual(out(email));
      await forget(email);
    }
    await create(email);
    expect(await join(id, [email], consentOf(Date.now()))).toEqual(IN);
    await forget(email);
    expect(await kept(id)).toEqual([]);
    await create(email);
    expect(await join(id, [email])).toEqual(IN);
  });

  test('is not asked to confirm', async () => {
    const [id, email] = [await audience(), 'asked@left.example'];
    await gone(id, email);
    await send('PATCH', `/v1/audiences/${id}`, { confirm: true });
    await create(email);
    expect(await join(id, [email])).toEqual(out(email));
    expect(await send('GET', `/v1/emails?to=${email}`)).toEqual([]);
  });

  test('is kept as a hash that only the key can make; who was removed by the workspace is not kept', async () => {
    const [id, email] = [await audience(), 'hash@left.example'];
    await gone(id, email);
    expect(await kept(id)).toEqual([expect.stringMatching(/^forgotten:[\w-]{43}$/)]);
    expect(await send('GET', `/v1/suppressions?address=${email}`)).toEqual([]);
    const removed = 'removed@left.example';
    await create(removed);
    await join(id, [removed]);
    await send('DELETE', `/v1/audiences/${id}/contacts/${removed}`);
    await forget(removed);
    expect(await kept(id)).toHaveLength(1);
    await create(removed);
    expect(await join(id, [removed])).toEqual(IN);
  });

  test('is left alone by the other environment, and leaves nothing behind with the audience', async () => {
    const [id, email] = [await audience(), 'away@left.example'];
    await gone(id, email);
    const inTest = await service.keyWith('test', ['*']);
    await service.ask({ method: 'POST', path: '/v1/contacts', key: inTest, body: { email } });
    const told = await service.ask({ path: `/v1/contacts/${email}/activity?type=left`, key: inTest });
    expect(told.body.data).toEqual([]);
    await send('DELETE', `/v1/audiences/${id}`);
    await eventually('the hash is gone', async () => ((await kept(id)).length === 0 ? true : undefined));
    await create(email);
    expect(await send('GET', `/v1/contacts/${email}/activity?type=left`)).toEqual([]);
  });

  test('is not stored in clear by a late link or a refused line, where the hash is known by another reason', async () => {
    const client = importClient(service, live);
    const [link, line] = ['link@bounced.example', 'line@bounced.example'];
    for (const email of [link, line]) {
      await client.imported(`email,status\n${email},bounced\n`);
      await forget(email);
    }
    const reasons = (email: string) => send('GET', `/v1/suppressions?address=${email}`);
    await eventually('the erasures', async () => {
      const rows = await service.service.database.query('select 1 from erasures');
      return rows.length === 0 ? true : undefined;
    });
    const target = `${service.workspaceId} ${link}`;
    const token = linkToken(
      'unsubscribe',
      { emailId: 'em_000000000000000000000000', recipient: 0, target },
      SIGNER,
    );
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    expect((await fetch(`${service.url}/t/u/${token}`, { method: 'POST', body })).status).toBe(200);
    const done = await client.imported(
      `email,status,age\n${line},unsubscribed,many\n`,
      `?columns=${encodeURIComponent('{"age":"properties.age:number"}')}`,
    );
    expect(done.counts).toMatchObject({ created: 0, failed: 1 });
    for (const email of [link, line])
      expect([email, await reasons(email)]).toMatchObject([
        email,
        [{ address: null, reason: 'bounced', otherReasons: ['unsubscribed'] }],
      ]);
  });
});
