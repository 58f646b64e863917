import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { preferencesPath } from '../../src/audience/preferences/queries.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { linkToken } from '../../src/sending/tracking/api.ts';
import { eventually } from '../support/eventually.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

const SIGNER = createSigner('only-for-tests-only-for-tests-only');

/** Everything by which a person with a guess could find an address in a dump. */
function tracesOf(address: string): readonly string[] {
  const hashes = ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) =>
    (['hex', 'base64', 'base64url'] as const).map((form) => createHash(name).update(address).digest(form)),
  );
  // Base64 of a text within another depends on where it begins there; the first and last characters mix with
  // what is around.
  const encoded = ['', 'x', 'xx'].map((before) =>
    Buffer.from(before + address)
      .toString('base64')
      .slice(4, -4),
  );
  return [address, address.replace('@', '%40'), Buffer.from(address).toString('hex'), ...hashes, ...encoded];
}

/** Every row of every table as text, bytes as the characters that they stand for. */
async function dumpOf({ service: { database } }: RealService): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
  );
  let dump = '';
  for (const { name } of tables) {
    const rows = await database.query<{ row: string }>(`select row_to_json(t)::text as row from ${name} t`);
    for (const { row } of rows)
      dump += `${name} ${row.replace(/\\\\x([0-9a-f]+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'))}\n`;
  }
  return dump;
}

const found = (dump: string, address: string): string[] => {
  const lower = dump.toLowerCase();
  return tracesOf(address).flatMap((trace) => {
    const place = lower.indexOf(trace.toLowerCase());
    return place === -1 ? [] : [dump.slice(dump.lastIndexOf('\n', place) + 1, place + 60)];
  });
};

describe.each(BOTH_DATABASES)('who is written to, on %s', (_, environment) => {
  let service: RealService;
  let live: string;
  let inTest: string;

  beforeAll(async () => {
    service = await startRealService(environment);
    live = await service.keyWith('live', ['*']);
    inTest = await service.keyWith('test', ['*']);
    await send('POST', '/v1/domains', { name: 'sender.example' });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const send = async (method: string, path: string, body?: unknown, key = live) => {
    const told = await service.ask({ method, path, key, ...(body !== undefined && { body }) });
    if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
    return told.body?.data;
  };
  const contact = (email: string, key = live) => send('GET', `/v1/contacts/${email}`, undefined, key);
  const typesOf = async (email: string, key = live): Promise<string[]> =>
    (await send('GET', `/v1/contacts/${email}/activity`, undefined, key)).map(
      ({ type }: { type: string }) => type,
    );
  const mailed = async (to: string | readonly string[], key = live, more: object = {}): Promise<string> => {
    const body = { from: 'shop@sender.example', to, subject: 'Hello', text: 'Hi', ...more };
    return (await send('POST', '/v1/emails', body, key)).id;
  };
  const until = (id: string, status: string, key = live) =>
    eventually(`${id} to be ${status}`, async () => {
      const email = await send('GET', `/v1/emails/${id}`, undefined, key);
      return email.status === status ? email : undefined;
    });
  const told = (id: string, report: { type: 'complained' | 'bounced'; permanent?: boolean; data: object }) =>
    service.service.engine.tell('email', id, {
      type: 'report.received',
      at: Date.now(),
      report: { ...report, recipient: 0, data: { ...report.data } },
    });
  const erased = () =>
    eventually('the erasures to end', async () => {
      const rows = await service.service.database.query('select 1 from erasures where not is_through');
      return rows.length === 0 ? true : undefined;
    });
  const suppression = async (address: string) =>
    (await send('GET', `/v1/suppressions?address=${address}`))[0] ?? null;

  test('live mail appears in the activity of a contact, and a complaint is the end', async () => {
    await send('POST', '/v1/contacts', { email: 'Cy@example.com' });
    const id = await mailed(['cy@example.com', 'nobody@example.com']);
    await until(id, 'delivered');
    await told(id, { type: 'complained', data: { feedbackType: 'abuse', userAgent: null } });
    expect(await contact('cy@example.com')).toMatchObject({
      status: 'complained',
      unsubscribedAt: expect.any(String),
    });
    expect(await typesOf('cy@example.com')).toEqual(
      expect.arrayContaining(['complained', 'delivered', 'sent', 'created']),
    );
    const [entry] = await send('GET', '/v1/contacts/cy@example.com/activity?type=complained');
    expect(entry).toMatchObject({ emailId: id, byMachine: false, data: { feedbackType: 'abuse' } });
  });

  test('a bounce for good takes a contact down, a later unsubscription does not lift it up', async () => {
    await send('POST', '/v1/contacts', { email: 'bo@example.com' });
    const id = await mailed('bo@example.com');
    await until(id, 'delivered');
    await told(id, { type: 'bounced', permanent: false, data: {} });
    expect((await contact('bo@example.com')).status).toBe('subscribed');
    await told(id, { type: 'bounced', permanent: true, data: {} });
    expect((await contact('bo@example.com')).status).toBe('bounced');
    await send('PATCH', '/v1/contacts/bo@example.com', { status: 'unsubscribed' });
    expect((await contact('bo@example.com')).status).toBe('bounced');
  });

  test('a link in a live email unsubscribes the contact, also when the email is long gone', async () => {
    await send('POST', '/v1/contacts', { email: 'li@example.com' });
    const target = `${service.workspaceId} li@example.com`;
    const emailId = 'em_000000000000000000000000';
    const token = linkToken('unsubscribe', { emailId, recipient: 0, target }, SIGNER);
    const url = `${service.url}/t/u/${token}`;
    await fetch(url);
    expect((await contact('li@example.com')).status).toBe('subscribed');
    await fetch(url, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
    expect((await contact('li@example.com')).status).toBe('unsubscribed');
  });

  test('simulated mail changes no status, and appears in the activity of the test contact alone', async () => {
    for (const outcome of ['complained', 'bounced', 'unsubscribed']) {
      const email = `${outcome}@simulator.svc.test`;
      for (const key of [live, inTest]) await send('POST', '/v1/contacts', { email }, key);
      const id = await mailed(email, inTest);
      await eventually(`${outcome}`, async () =>
        (await typesOf(email, inTest)).includes(outcome) ? true : undefined,
      );
      expect((await send('GET', `/v1/emails/${id}`, undefined, inTest)).lastEvent).toBe(outcome);
      expect((await contact(email, inTest)).status).toBe('subscribed');
      expect((await contact(email)).status).toBe('subscribed');
      expect(await typesOf(email)).toEqual(['created']);
      expect(await suppression(email)).toBeNull();
    }
  });

  test('a forgotten person is found nowhere, and stays suppressed', async () => {
    const address = 'Vanishing.Person@Forget.example';
    const key = address.toLowerCase();
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const body = {
      email: address,
      firstName: 'Vany',
      lastName: 'Shing',
      properties: { note: 'Vany likes tea' },
    };
    await service.ask({ method: 'POST', path: '/v1/contacts', key: live, body, headers });
    await send('POST', `/v1/contacts/${key}/events`, { name: 'tea.ordered', properties: { who: address } });
    const ids = [
      await mailed(`Vany Shing <${address}>`),
      await mailed(['first@example.com', address], live, { cc: 'other@example.com' }),
    ];
    for (const id of ids) await until(id, 'delivered');
    const bounce = { message: `550 5.1.1 <${key}> is unknown`, smtpCode: 550 };
    await told(ids[0] as string, { type: 'bounced', permanent: true, data: bounce });
    await service.ask({
      method: 'POST',
      path: '/v1/suppressions',
      key: live,
      body: { address },
      headers: { 'idempotency-key': crypto.randomUUID() },
    });
    const before = await dumpOf(service);
    expect(found(before, key).length).toBeGreaterThan(0);
    expect(before).toContain('Vany');

    const gone = await service.ask({ method: 'DELETE', path: `/v1/contacts/${address}`, key: live });
    expect(gone.status).toBe(204);
    expect((await service.ask({ path: `/v1/contacts/${key}`, key: live })).status).toBe(404);
    await erased();
    const after = await dumpOf(service);
    expect(found(after, key)).toEqual([]);
    expect(after).not.toContain('Vany');
    const second = await send('GET', `/v1/emails/${ids[1]}`);
    expect(second.to).toEqual(['first@example.com', 'forgotten-1@forgotten.invalid']);
    expect(second.recipients.map((one: { address: string }) => one.address)).toContain('other@example.com');
    // A repetition of the request that made the contact finds no contact.
    const again = await service.ask({ method: 'POST', path: '/v1/contacts', key: live, body, headers });
    expect(again.status).toBe(404);

    expect(await suppression(key)).toMatchObject({ address: null, reason: 'bounced' });
    await send('POST', '/v1/contacts', { email: address });
    expect((await contact(key)).status).toBe('bounced');
    const email = await until(await mailed(key), 'failed');
    expect(email.failureReason).toBe('suppressed');
    await send('DELETE', `/v1/suppressions/${key}`);
    expect(await suppression(key)).toBeNull();
  });

  test('the subject of a campaign that was made for a forgotten person is the written one again, or empty', async () => {
    const { id: audienceId } = await send('POST', '/v1/audiences', { name: 'Named' });
    const people = ['Vanessa', 'Valerie', 'Staying'].map((firstName) => ({
      email: `${firstName.toLowerCase()}@named.example`,
      firstName,
    }));
    const made: { id: string }[] = await send('POST', '/v1/contacts/batch', { contacts: people });
    const contactIds = made.map(({ id }) => id);
    await send('POST', `/v1/audiences/${audienceId}/contacts`, { contactIds });
    const written = 'For {{ contact.firstName }}, {{ contact.email }}';
    const said = {
      name: 'Named',
      from: 'News <news@sender.example>',
      subject: written,
      html: '<p>Hello</p>',
    };
    const { id } = await send('POST', '/v1/campaigns', { ...said, audienceId });
    await send('POST', `/v1/campaigns/${id}/send`, {});
    type Listed = { id: string; to: string[]; subject: string; status: string };
    const listed = (): Promise<Listed[]> => send('GET', `/v1/emails?campaignId=${id}`);
    const emails = await eventually(
      'all to be delivered',
      async () => {
        const found = await listed();
        return found.length === 3 && found.every(({ status }) => status === 'delivered') ? found : undefined;
      },
      { withinMs: 30_000 },
    );
    const born = (name: string): string => `For ${name}, ${name.toLowerCase()}@named.example`;
    expect(emails.map(({ subject }) => subject).toSorted()).toEqual(
      ['Staying', 'Valerie', 'Vanessa'].map(born),
    );
    const emailOf = (name: string) => emails.find(({ subject }) => subject === born(name))?.id;
    const forget = async (name: string): Promise<void> => {
      await send('DELETE', `/v1/contacts/${name.toLowerCase()}@named.example`);
      await erased();
    };
    const shown = (name: string) => send('GET', `/v1/emails/${emailOf(name)}`);

    await forget('Vanessa');
    expect(await shown('Vanessa')).toMatchObject({ subject: written, to: ['forgotten-0@forgotten.invalid'] });
    expect((await listed()).map(({ subject }) => subject).toSorted()).toEqual(
      [written, born('Staying'), born('Valerie')].toSorted(),
    );
    expect(await send('GET', `/v1/emails?campaignId=${id}&subject=Vanessa`)).toEqual([]);
    expect(await send('GET', `/v1/captured?emailId=${emailOf('Vanessa')}`)).toEqual([]);
    expect(await dumpOf(service)).not.toContain(born('Vanessa'));

    await service.service.database.query('delete from campaign_contents where campaign_id = $1', [id]);
    await forget('Valerie');
    expect(await shown('Valerie')).toMatchObject({ subject: '', to: ['forgotten-0@forgotten.invalid'] });
    expect((await shown('Staying')).subject).toBe(born('Staying'));
  });

  test('who had neither left nor bounced leaves nothing behind', async () => {
    await send('POST', '/v1/contacts', { email: 'clean@forget.example' });
    await send('DELETE', '/v1/contacts/clean@forget.example');
    await erased();
    expect(found(await dumpOf(service), 'clean@forget.example')).toEqual([]);
    expect(await suppression('clean@forget.example')).toBeNull();
    expect(
      (await service.ask({ method: 'DELETE', path: '/v1/contacts/clean@forget.example', key: live })).status,
    ).toBe(404);
  });

  test('who had left and was forgotten stays away from an import that comes later', async () => {
    await send('POST', '/v1/contacts', { email: 'Gone@forget.example', status: 'unsubscribed' });
    await send('DELETE', '/v1/contacts/gone@forget.example');
    const headers = { 'content-type': 'text/csv' };
    const file = 'email,status\ngone@FORGET.example,subscribed\n';
    const path = '/v1/contacts/import';
    const { id } = (await service.ask({ method: 'POST', path, key: live, body: file, headers })).body.data;
    await eventually('the import', async () =>
      (await send('GET', `/v1/contacts/imports/${id}`)).status === 'completed' ? true : undefined,
    );
    expect((await contact('gone@forget.example')).status).toBe('unsubscribed');
  });

  test('who is known by a hash is suppressed again without a second entry, and without the address', async () => {
    const address = 'twice@forget.example';
    await send('POST', '/v1/contacts', { email: address, status: 'unsubscribed' });
    await send('DELETE', `/v1/contacts/${address}`);
    await erased();
    const listed = () => send('GET', `/v1/suppressions?address=${address}`);
    expect(await listed()).toMatchObject([{ address: null, reason: 'unsubscribed' }]);
    const again = await send('POST', '/v1/suppressions', { address, reason: 'unsubscribed' });
    expect(again).toMatchObject({ address, reason: 'unsubscribed' });
    const headers = { 'content-type': 'text/csv' };
    const path = '/v1/suppressions/import';
    const body = `address\n${address}\nnew@forget.example\n`;
    const told = (await service.ask({ method: 'POST', path, key: live, body, headers })).body.data;
    expect(told.counts).toEqual({ total: 2, added: 1, known: 1, failed: 0 });
    // By hand is stronger than a link.
    expect(await listed()).toMatchObject([{ address: null, reason: 'manual' }]);
    expect(found(await dumpOf(service), address)).toEqual([]);
    await send('DELETE', `/v1/suppressions/${address}`);
    expect(await listed()).toMatchObject([{ address: null, reason: 'unsubscribed' }]);
    const kept = await service.ask({ method: 'DELETE', path: `/v1/suppressions/${address}`, key: live });
    expect(kept.status).toBe(409);
  });

  test('a link of an email still unsubscribes a forgotten person, whose address does not come back', async () => {
    const exit = (emailId: string, address: string) => {
      const target = `${service.workspaceId} ${address}`;
      const token = linkToken('unsubscribe', { emailId, recipient: 0, target }, SIGNER);
      return async () => {
        const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
        expect((await fetch(`${service.url}/t/u/${token}`, { method: 'POST', body })).status).toBe(200);
      };
    };
    const [early, late] = ['early@forget.example', 'late@forget.example'] as const;
    const links = [];
    for (const address of [early, late]) {
      await send('POST', '/v1/contacts', { email: address });
      const id = await mailed(address);
      await until(id, 'delivered');
      await send('DELETE', `/v1/contacts/${address}`);
      links.push(exit(id, address));
    }
    await erased();
    const [leaveEarly, leaveLate] = links;
    for (let times = 0; times < 2; times++) {
      await leaveEarly?.();
      expect(found(await dumpOf(service), early)).toEqual([]);
      expect(await suppression(early)).toMatchObject({ address: null, reason: 'unsubscribed' });
    }
    await send('POST', '/v1/contacts', { email: early });
    expect((await contact(early)).status).toBe('unsubscribed');
    // A person who is a contact again leaves at the first click.
    await send('POST', '/v1/contacts', { email: late });
    expect((await contact(late)).status).toBe('subscribed');
    await leaveLate?.();
    expect((await contact(late)).status).toBe('unsubscribed');
    expect(await suppression(late)).toMatchObject({ address: late, reason: 'unsubscribed' });
    const listed = await send('GET', '/v1/suppressions?limit=100');
    expect(listed.filter((one: { address: string | null }) => one.address?.endsWith('.invalid'))).toEqual([]);
  });

  test('the preference page knows a person who had left and was forgotten, and no longer stores the address', async () => {
    const address = 'page@forget.example';
    await send('POST', '/v1/contacts', { email: address, status: 'unsubscribed' });
    const url =
      service.url +
      preferencesPath(SIGNER, { workspaceId: service.workspaceId, livemode: true, key: address });
    const page = async (action?: string): Promise<string> => {
      const how = action === undefined ? {} : { method: 'POST', body: new URLSearchParams({ action }) };
      return (await fetch(url, how)).text();
    };
    expect(await page()).toContain('You are unsubscribed from everything');
    await send('DELETE', `/v1/contacts/${address}`);
    await erased();
    for (const action of [undefined, 'again', 'off'])
      expect(await page(action)).toContain('You are unsubscribed from everything');
    expect(found(await dumpOf(service), address)).toEqual([]);
    expect(await send('GET', `/v1/suppressions?address=${address}`)).toMatchObject([{ address: null }]);
  });

  test('an email that still has to leave keeps its address until it is over', async () => {
    const address = 'later@forget.example';
    await send('POST', '/v1/contacts', { email: address });
    const id = await mailed(address, live, { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() });
    await send('DELETE', `/v1/contacts/${address}`);
    await erased();
    expect((await send('GET', `/v1/emails/${id}`)).to).toEqual([address]);
    await send('DELETE', `/v1/emails/${id}`);
    const { database } = service.service;
    await database.query('update erasures set next_at = now()');
    // Forgetting anybody wakes the eraser.
    await send('POST', '/v1/contacts', { email: 'waker@forget.example' });
    await send('DELETE', '/v1/contacts/waker@forget.example');
    await eventually('the rest', async () =>
      (await database.query('select 1 from erasures')).length === 0 ? true : undefined,
    );
    expect(found(await dumpOf(service), address)).toEqual([]);
  });

  test('thousands of emails are looked through in parts, from the newest to the oldest', async () => {
    const { database } = service.service;
    const address = 'much@forget.example';
    await send('POST', '/v1/contacts', { email: address });
    await database.query(
      `insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at,
         recipients, recipient_keys, sender_key, subject, tags, envelope, content)
       select 'em_0' || lpad(n::text, 23, '0'), $1, true, 'delivered', '{}', 1, 0, '[]', now(), array['${address}'],
         array['${address}'], 's', 's', '{}', '{"to": [{"name": null, "address": "${address}"}], "cc": [], "bcc": []}', ''::bytea
       from generate_series(1, 2300) n`,
      [service.workspaceId],
    );
    await send('DELETE', `/v1/contacts/${address}`);
    await erased();
    expect(found(await dumpOf(service), address)).toEqual([]);
  });
});
