import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { pathsOf } from './ask.ts';
import { importClient } from './import-client.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let live: string;
let inTest: string;

/** As much of SES as suppressions need: it is away until the test brings it back, and knows no address. */
const ses = { isAway: true, asked: [] as string[] };
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    if (ses.isAway) return new Response('no', { status: 503 });
    ses.asked.push(`${request.method} ${decodeURIComponent(new URL(request.url).pathname)}`);
    return Response.json(
      { message: 'no' },
      { status: 404, headers: { 'x-amzn-errortype': 'NotFoundException' } },
    );
  },
});

beforeAll(async () => {
  service = await startRealService({
    DATABASE_URL: '',
    TRANSPORT: 'ses',
    SES_REGION: 'eu-west-1',
    SES_ENDPOINT: server.url.origin,
    AWS_ACCESS_KEY_ID: 'AK',
    AWS_SECRET_ACCESS_KEY: 'SK',
  });
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server.stop(true);
});

const send = (method: string, path: string, body?: unknown, key = live, headers = {}) =>
  service.ask({ method, path, key, headers, ...(body !== undefined && { body }) });
const csv = (text: string, key = live) =>
  send('POST', '/v1/suppressions/import', text, key, { 'content-type': 'text/csv' });
const reasonOf = async (address: string) =>
  (await send('GET', `/v1/suppressions?address=${address}`)).body.data[0]?.reason ?? null;
const importContacts = (text: string) => importClient(service, live).imported(text);
const contact = async (email: string) => (await send('GET', `/v1/contacts/${email}`)).body.data;

test('an address is suppressed by hand or as unsubscribed, and its contact follows', async () => {
  for (const email of ['hand@example.com', 'left@example.com']) await send('POST', '/v1/contacts', { email });
  const manual = await send('POST', '/v1/suppressions', { address: 'Hand@example.com' });
  expect([manual.status, manual.body.data.reason]).toEqual([201, 'manual']);
  expect((await contact('hand@example.com')).status).toBe('subscribed');
  const left = await send('POST', '/v1/suppressions', {
    address: 'left@example.com',
    reason: 'unsubscribed',
  });
  expect(left.body.data).toMatchObject({ reason: 'unsubscribed', emailId: null });
  expect((await contact('left@example.com')).status).toBe('unsubscribed');
  const wrong = await send('POST', '/v1/suppressions', { address: 'x@example.com', reason: 'bounced' });
  expect(pathsOf(wrong)).toEqual(['/body/reason']);
});

test('a list is taken with its refused lines told, and never weakens a reason', async () => {
  await send('POST', '/v1/contacts', { email: 'gone@example.com' });
  const told = await csv(
    'Name;E;Email;Reason\r\nx;;gone@example.com;complained\r\nx;;nobody;\r\nx;;a@b.example;silly\r\nx;;new@example.com;\r\nx;;NEW@example.com;\r\nx;;hand@example.com;unsubscribed\r\n',
  );
  expect(told.body.data.counts).toEqual({ total: 6, added: 2, known: 2, failed: 2 });
  expect(told.body.data.errors.map(({ line }: { line: number }) => line)).toEqual([3, 4]);
  expect(await reasonOf('gone@example.com')).toBe('complained');
  expect((await contact('gone@example.com')).status).toBe('complained');
  expect(await reasonOf('hand@example.com')).toBe('manual');
  expect(pathsOf(await csv('a,b\n1,2\n'))).toEqual(['/body']);
  expect((await csv('address\na@b.example\n', inTest)).body.error.code).toBe('TEST_MODE_NOT_SUPPORTED');
});

test('what is exported can be imported again; a test key sees none', async () => {
  const { text } = await send('GET', '/v1/suppressions/export');
  expect(text.split('\r\n').slice(0, 3)).toEqual([
    'address,reason,created_at',
    expect.stringMatching(/^gone@example.com,complained,\d{4}-.*Z$/),
    expect.stringMatching(/^Hand@example.com,manual,/),
  ]);
  const again = await csv(text);
  // The one who complained had unsubscribed before, and has a line for each.
  expect(again.body.data.counts).toEqual({ total: 5, added: 0, known: 5, failed: 0 });
  expect((await send('GET', '/v1/suppressions/export', undefined, inTest)).text).toBe(
    'address,reason,created_at\r\n',
  );
});

test('Amazon SES learns of a lifted suppression as soon as it can be reached', async () => {
  const { database } = service.service;
  expect((await send('DELETE', '/v1/suppressions/new@example.com')).status).toBe(204);
  expect((await send('DELETE', '/v1/suppressions/new@example.com')).status).toBe(404);
  const consent = { source: 'form', at: new Date().toISOString() };
  await send('PATCH', '/v1/contacts/left@example.com', { status: 'subscribed', consent });
  expect(await reasonOf('left@example.com')).toBeNull();
  const waiting = await database.query<{ sealed: string }>('select sealed from ses_removals');
  expect(waiting).toHaveLength(2);
  for (const { sealed } of waiting) expect(sealed).not.toContain('example.com');
  ses.isAway = false;
  await database.query('update ses_removals set next_at = now()');
  await eventually('SES to hear', async () =>
    (await database.query('select 1 from ses_removals')).length === 0 ? true : undefined,
  );
  expect(ses.asked.toSorted()).toEqual([
    'DELETE /v2/email/suppression/addresses/left@example.com',
    'DELETE /v2/email/suppression/addresses/new@example.com',
  ]);
  // The contact of a lifted suppression stays as it is: only consent leads back.
  await send('POST', '/v1/contacts', { email: 'stays@example.com', status: 'unsubscribed' });
  await send('DELETE', '/v1/suppressions/stays@example.com');
  expect((await contact('stays@example.com')).status).toBe('unsubscribed');
});

test('a list may come as spreadsheets write it, and its strongest reason for an address counts', async () => {
  const lines =
    'sep=;\r\nAddress;Reason\r\nTWICE@example.com;unsubscribed\r\ntwice@example.com;bounced\r\nbad;\r\n';
  const told = await send('POST', '/v1/suppressions/import', Buffer.from(`\ufeff${lines}`, 'utf16le'), live, {
    'content-type': 'text/csv',
  });
  expect(told.body.data).toEqual({
    counts: { total: 3, added: 1, known: 1, failed: 1 },
    errors: [{ line: 5, message: expect.any(String) }],
  });
  expect(await reasonOf('twice@example.com')).toBe('bounced');
});

test('the cell of a list may hold the link of an address, or several addresses, each of which is suppressed', async () => {
  const told = await csv(
    'email\nmailto:linked@example.com\nfirst@example.com ::: mailto:second@example.com ::: third@\n',
  );
  expect(told.body.data).toEqual({
    counts: { total: 4, added: 3, known: 0, failed: 1 },
    errors: [{ line: 3, message: expect.any(String) }],
  });
  for (const name of ['linked', 'first', 'second'])
    expect(await reasonOf(`${name}@example.com`)).toBe('manual');
});

test('a quote behind a space swallows no address of a list', async () => {
  const told = await csv('address,note\nfeet@example.com, "6 feet\ninches@example.com, 5"\n');
  expect(told.body.data).toEqual({ counts: { total: 2, added: 2, known: 0, failed: 0 }, errors: [] });
  expect(await reasonOf('inches@example.com')).toBe('manual');
});

test('the first reason stays, unless it is unsubscribed, and a test key changes nothing', async () => {
  const add = (reason?: string, key = live) =>
    send('POST', '/v1/suppressions', { address: 'twice@reason.example', ...(reason && { reason }) }, key);
  expect((await add('unsubscribed', inTest)).body.error.code).toBe('TEST_MODE_NOT_SUPPORTED');
  expect(await reasonOf('twice@reason.example')).toBeNull();
  const reasons: string[] = [];
  for (const reason of ['unsubscribed', undefined, 'unsubscribed'])
    reasons.push((await add(reason)).body.data.reason);
  expect(reasons).toEqual(['unsubscribed', 'manual', 'manual']);
  const path = '/v1/suppressions/twice@reason.example';
  expect((await send('DELETE', path, undefined, inTest)).body.error.code).toBe('TEST_MODE_NOT_SUPPORTED');
  expect(await reasonOf('twice@reason.example')).toBe('manual');
  expect((await send('DELETE', path)).status).toBe(204);
});

/** The reason of an address, with the acts beside it. */
const reasonsOf = async (address: string): Promise<readonly string[]> => {
  const [found] = (await send('GET', `/v1/suppressions?address=${address}`)).body.data;
  return found ? [found.reason, ...found.otherReasons] : [];
};
/** Removes the reason that counts, again and again; answers what was there each time. */
const removeAll = async (address: string): Promise<string[]> => {
  const steps: string[] = [];
  for (;;) {
    steps.push((await reasonsOf(address)).join('+'));
    if ((await send('DELETE', `/v1/suppressions/${address}`)).status !== 204) return steps;
  }
};

test.each([
  [
    ['unsubscribed', 'manual'],
    ['manual+unsubscribed', 'unsubscribed', ''],
  ],
  [
    ['manual', 'unsubscribed'],
    ['manual+unsubscribed', 'unsubscribed', ''],
  ],
  [
    ['unsubscribed', 'bounced'],
    ['bounced+unsubscribed', 'unsubscribed', ''],
  ],
  [
    ['bounced', 'unsubscribed', 'unsubscribed'],
    ['bounced+unsubscribed', 'unsubscribed', ''],
  ],
  [
    ['bounced', 'complained'],
    ['bounced+complained', 'complained', ''],
  ],
  [
    ['manual', 'complained', 'unsubscribed'],
    ['manual+complained+unsubscribed', 'complained+unsubscribed', 'unsubscribed', ''],
  ],
  [
    ['complained', 'unsubscribed'],
    ['complained+unsubscribed', 'unsubscribed', ''],
  ],
  [
    ['unsubscribed', 'complained', 'bounced'],
    ['complained+unsubscribed', 'unsubscribed', ''],
  ],
  [
    ['bounced', 'manual'],
    ['bounced', ''],
  ],
  [
    ['complained', 'manual'],
    ['manual+complained', 'complained', ''],
  ],
  [
    ['bounced', 'complained', 'manual'],
    ['bounced+complained', 'complained', ''],
  ],
])(
  'an address that is %p stays what the person made of it when a reason is removed',
  async (reasons, steps) => {
    const address = `${reasons.join('-')}@acts.example`;
    for (const reason of reasons) await csv(`address,reason\n${address},${reason}\n`);
    expect(await removeAll(address)).toEqual(steps);
    // A file tells the same in any number of lines.
    await csv(`address,reason\n${reasons.map((reason) => `${address},${reason}\n`).join('')}`);
    expect(await removeAll(address)).toEqual(steps);
  },
);

test('an export has a line for each act of a person, and an import takes all of them', async () => {
  for (const reason of ['unsubscribed', 'bounced', 'complained'])
    await csv(`address,reason\nevery@line.example,${reason}\nonly@line.example,bounced\n`);
  const { text } = await send('GET', '/v1/suppressions/export');
  const lines = text.split('\r\n').filter((line) => line.includes('@line.example'));
  expect(lines.map((line) => line.split(',').slice(0, 2).join(' '))).toEqual([
    'every@line.example bounced',
    'every@line.example complained',
    'every@line.example unsubscribed',
    'only@line.example bounced',
  ]);
  await removeAll('every@line.example');
  await csv(`address,reason,created_at\n${lines.join('\n')}\n`);
  expect(await reasonsOf('every@line.example')).toEqual(['bounced', 'complained', 'unsubscribed']);
  for (const [reason, is] of [
    ['bounced', true],
    ['complained', true],
    ['unsubscribed', true],
    ['manual', false],
  ] as const) {
    const { data } = (await send('GET', `/v1/suppressions?reason=${reason}&limit=100`)).body;
    const { count } = (await send('GET', `/v1/suppressions/count?reason=${reason}`)).body.data;
    expect(data.some(({ address }: { address: string }) => address === 'every@line.example')).toBe(is);
    expect(count).toBe(data.length);
  }
});

test('a forgotten person who unsubscribed and bounced stays unsubscribed once the bounce is removed', async () => {
  await send('POST', '/v1/contacts', { email: 'forgotten@acts.example' });
  for (const reason of ['unsubscribed', 'bounced'])
    await csv(`address,reason\nforgotten@acts.example,${reason}\n`);
  expect((await send('DELETE', '/v1/contacts/forgotten@acts.example')).status).toBe(204);
  expect(await removeAll('forgotten@acts.example')).toEqual(['bounced+unsubscribed', 'unsubscribed']);
});

test('consent of before an unsubscription that followed a bounce subscribes no contact', async () => {
  await send('POST', '/v1/contacts', { email: 'late@acts.example' });
  await csv('address,reason\nlate@acts.example,bounced\n');
  await service.service.database.query(
    `with bounced as (update contacts set unsubscribed_at = unsubscribed_at - interval '2 hours' where email = 'late@acts.example' returning email)
     update suppressions set created_at = created_at - interval '2 hours' where address in (select email from bounced)`,
  );
  const between = new Date(Date.now() - 3_600_000).toISOString();
  await csv('address,reason\nlate@acts.example,unsubscribed\n');
  const subscribe = async (at: string) => {
    const consent = { source: 'form', at };
    const told = await send('PATCH', '/v1/contacts/late@acts.example', { status: 'subscribed', consent });
    return [told.status, (await contact('late@acts.example')).status];
  };
  expect(await subscribe(between)).toEqual([422, 'bounced']);
  await send('DELETE', '/v1/suppressions/late@acts.example');
  expect(await subscribe(between)).toEqual([422, 'bounced']);
  expect(await subscribe(new Date().toISOString())).toEqual([200, 'subscribed']);
  expect(await reasonsOf('late@acts.example')).toEqual([]);
});

test('consent takes an unsubscription back that lies beneath a manual entry, and leaves the entry', async () => {
  await send('POST', '/v1/contacts', { email: 'agreed@acts.example' });
  for (const reason of ['unsubscribed', 'manual'])
    await csv(`address,reason\nagreed@acts.example,${reason}\n`);
  expect(await reasonsOf('agreed@acts.example')).toEqual(['manual', 'unsubscribed']);
  const consent = { source: 'form', at: new Date().toISOString() };
  await send('PATCH', '/v1/contacts/agreed@acts.example', { status: 'subscribed', consent });
  expect(await reasonsOf('agreed@acts.example')).toEqual(['manual']);
});

test('an old consent lifts a bounce, and no unsubscription that a bounce followed', async () => {
  for (const email of ['unsubscribed@first.example', 'bounced@only.example'])
    await send('POST', '/v1/contacts', { email });
  await send('PATCH', '/v1/contacts/unsubscribed@first.example', { status: 'unsubscribed' });
  await service.service.database.query(
    "update contacts set unsubscribed_at = unsubscribed_at - interval '1 minute' where status = 'unsubscribed'",
  );
  await csv('address,reason\nunsubscribed@first.example,bounced\nbounced@only.example,bounced\n');
  const subscribe = async (email: string, at: string) => {
    await send('PATCH', `/v1/contacts/${email}`, {
      status: 'subscribed',
      consent: { source: 'form', at },
    });
    return (await contact(email)).status;
  };
  const old = '2026-01-01T00:00:00Z';
  expect(await subscribe('unsubscribed@first.example', old)).toBe('bounced');
  expect(await subscribe('bounced@only.example', old)).toBe('subscribed');
  expect(await subscribe('unsubscribed@first.example', new Date().toISOString())).toBe('subscribed');
  for (const email of ['unsubscribed@first.example', 'bounced@only.example'])
    expect(await reasonOf(email)).toBeNull();
});

/** Forgets a contact who had left for the reason, and makes it again: its address is known by a hash. */
async function madeAgain(email: string, reason: string): Promise<void> {
  await send('POST', '/v1/contacts', { email });
  await csv(`address,reason\n${email},${reason}\n`);
  expect((await send('DELETE', `/v1/contacts/${email}`)).status).toBe(204);
  await send('POST', '/v1/contacts', { email });
}

test('the removal of a bounce leaves what is known of the person by their hash alone', async () => {
  for (const [reason, stays] of [
    ['unsubscribed', ['unsubscribed']],
    ['complained', ['complained']],
    ['manual', []],
  ] as const) {
    const email = `hash-${reason}@acts.example`;
    await madeAgain(email, reason);
    await importContacts(`email,status\n${email},bounced\n`);
    const { data } = (await send('GET', `/v1/suppressions?address=${email}`)).body;
    expect(data.map((row: { reason: string }) => row.reason).sort()).toEqual(['bounced', reason].sort());
    expect((await send('DELETE', `/v1/suppressions/${email}`)).status).toBe(204);
    expect(await reasonsOf(email)).toEqual(stays);
  }
});

test('a new contact begins with what the person did, also beneath another reason', async () => {
  for (const [reasons, begins] of [
    [['manual'], 'subscribed'],
    [['manual', 'unsubscribed'], 'unsubscribed'],
    [['manual', 'complained'], 'complained'],
    [['bounced', 'unsubscribed'], 'bounced'],
    [['bounced', 'complained'], 'complained'],
  ] as const) {
    const email = `${reasons.join('-')}@new.example`;
    for (const reason of reasons) await csv(`address,reason\n${email},${reason}\n`);
    await send('POST', '/v1/contacts', { email });
    expect((await contact(email)).status).toBe(begins);
    // The same holds of an address that is known by its hash.
    await send('DELETE', `/v1/contacts/${email}`);
    await send('POST', '/v1/contacts', { email });
    expect((await contact(email)).status).toBe(begins);
  }
});

test('the leaving of a forgotten person outlives the removal of their suppression, until they consent', async () => {
  const forgotten = async (email: string, reasons: readonly string[]) => {
    await send('POST', '/v1/contacts', { email });
    for (const reason of reasons) await csv(`address,reason\n${email},${reason}\n`);
    expect((await send('DELETE', `/v1/contacts/${email}`)).status).toBe(204);
  };
  const [left, complained] = ['left@hash.example', 'complained@hash.example'] as const;
  await forgotten(left, ['manual', 'unsubscribed']);
  await forgotten(complained, ['complained']);
  expect(await removeAll(left)).toEqual(['manual+unsubscribed', 'unsubscribed']);
  // As with the status of a contact: a receipt reaches them, list mail does not.
  expect(await removeAll(complained)).toEqual(['complained', 'unsubscribed']);
  const refused = await send('DELETE', `/v1/suppressions/${left}`);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
  expect((await send('DELETE', '/v1/suppressions/unknown@hash.example')).status).toBe(404);
  for (const email of [left, complained]) {
    await send('POST', '/v1/contacts', { email });
    expect((await contact(email)).status).toBe('unsubscribed');
    // The status of the contact is what stays now.
    if (email === left) expect(await removeAll(email)).toEqual(['unsubscribed', '']);
    expect((await contact(email)).status).toBe('unsubscribed');
    const consent = { source: 'form', at: new Date().toISOString() };
    const back = await send('PATCH', `/v1/contacts/${email}`, { status: 'subscribed', consent });
    expect(back.status).toBe(200);
    expect(await reasonsOf(email)).toEqual([]);
  }
});
