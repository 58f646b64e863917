import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, type Service, startServiceOnServer, TEST_KEY } from '../support/service.ts';

// The real package, pointed at this service.

interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there, not on what a type promises.
  readonly data: any;
  readonly error: { readonly statusCode: number; readonly name: string; readonly message: string } | null;
  readonly headers: Readonly<Record<string, string>> | null;
}
type Calls<Name extends string> = Record<Name, (...given: readonly unknown[]) => Promise<Result>>;
interface Resend {
  readonly emails: Calls<'send' | 'get' | 'update' | 'cancel'> & {
    readonly receiving: Calls<'list' | 'get'>;
  };
  readonly batch: Calls<'send'>;
  readonly domains: Calls<'list' | 'create'>;
  readonly apiKeys: Calls<'create'>;
  readonly audiences: Calls<'create'>;
  readonly contacts: Calls<'list'>;
}

// Its own types bring React's with them, which declare elements of pages for every test.
const { Resend } = require('resend') as {
  Resend: new (key: string, options: { readonly baseUrl: string }) => Resend;
};

let service: Service;
let resend: Resend;
const at = (key: string) => new Resend(key, { baseUrl: `${service.url}/compat/resend` });
const EMAIL = {
  from: 'Acme <hello@acme.example>',
  to: 'delivered@simulator.svc.test',
  subject: 'Hello',
  html: '<p>Hi</p>',
};
const ours = (path: string) => createClient(service.url, TEST_KEY).get(path);
const idOf = ({ data, error }: { data: { id: string } | null; error: unknown }): string => {
  expect(error).toBeNull();
  return data?.id ?? '';
};

beforeAll(async () => {
  service = await startServiceOnServer({
    env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0', TEST_SENDS_PER_DAY: '19' },
  });
  resend = at(TEST_KEY);
});
afterAll(async () => service?.[Symbol.asyncDispose]());

describe('the package resend', () => {
  test('sends an email with everything that it has a field for, and reads it', async () => {
    const sent = await resend.emails.send({
      ...EMAIL,
      to: [EMAIL.to],
      cc: 'copy@example.com',
      bcc: ['hidden@example.com'],
      replyTo: 'Support <support@acme.example>',
      text: 'Hi',
      headers: { 'X-Order': '7' },
      tags: [{ name: 'kind', value: 'receipt' }],
      attachments: [
        { filename: 'a.txt', content: Buffer.from('text'), contentType: 'text/plain', contentId: 'a' },
      ],
    });
    const id = idOf(sent);
    const { body } = await ours(`/v1/emails/${id}`);
    expect(body.data).toMatchObject({
      to: [EMAIL.to],
      cc: ['copy@example.com'],
      bcc: ['hidden@example.com'],
      subject: 'Hello',
      text: 'Hi',
      replyTo: ['Support <support@acme.example>'],
      headers: { 'X-Order': '7' },
      tags: [{ name: 'kind', value: 'receipt' }],
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', size: 4 }],
    });
    const delivered = await eventually('the delivery', async () => {
      const { data } = await resend.emails.get(id);
      return data?.last_event === 'delivered' ? data : undefined;
    });
    expect(delivered).toMatchObject({
      object: 'email',
      id,
      from: EMAIL.from,
      to: [EMAIL.to],
      subject: 'Hello',
      html: '<p>Hi</p>',
      text: 'Hi',
      cc: ['copy@example.com'],
      reply_to: ['Support <support@acme.example>'],
      scheduled_at: null,
      tags: [{ name: 'kind', value: 'receipt' }],
    });
  });

  test('takes a file as octets, and the name that a content id had for a while', async () => {
    // Up to 6.34 the package writes the JSON of a Buffer; those for Python, Go and Rust write a list of
    // numbers.
    const octets = [...Buffer.from('<svg>ü</svg>'.repeat(25_000))];
    const reply = await fetch(`${service.url}/compat/resend/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...EMAIL,
        attachments: [
          { filename: 'a.svg', content: Buffer.from(octets), inline_content_id: 'logo' },
          { filename: 'b.svg', content: octets },
          { filename: 'c.svg', content: Buffer.from(octets).toString('base64') },
        ],
      }),
    });
    const { id } = (await reply.json()) as { readonly id: string };
    const { body } = await ours(`/v1/emails/${id}`);
    expect(body.data.attachments).toMatchObject(
      ['a.svg', 'b.svg', 'c.svg'].map((filename) => ({ filename, size: octets.length })),
    );
    for (const number of [0, 1, 2]) {
      const file = await fetch(`${service.url}/v1/emails/${id}/attachments/${number}`, {
        headers: { authorization: `Bearer ${TEST_KEY}` },
      });
      expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.from(octets))).toBe(true);
    }
    const message = await fetch(`${service.url}/v1/emails/${id}/raw`, {
      headers: { authorization: `Bearer ${TEST_KEY}` },
    });
    expect(await message.text()).toContain('Content-ID: <logo>');
    const wrong = await resend.batch.send([
      { ...EMAIL, attachments: [{ filename: 'a', content: [1, 256] }] },
    ]);
    expect(wrong.error?.message).toStartWith('0.attachments.0.content: ');
  });

  test('takes what the mailers of frameworks write in other forms', async () => {
    const post = async (more: object) => {
      const reply = await fetch(`${service.url}/compat/resend/emails`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...EMAIL, ...more }),
      });
      const answer = (await reply.json()) as { readonly id?: string; readonly message?: string };
      return answer.id === undefined ? answer.message : (await ours(`/v1/emails/${answer.id}`)).body.data;
    };
    // Laravel: PHP writes a map without members as a list, and a mailable has its id among the fields.
    expect(await post({ headers: [], cc: [], bcc: [], reply_to: [], text: null })).toMatchObject({ cc: [] });
    expect(await post({ headers: { 'Message-ID': '<order-7@acme.example>', 'X-A': 'b' } })).toMatchObject({
      messageId: '<order-7@acme.example>',
      headers: { 'X-A': 'b' },
    });
    expect(await post({ headers: { 'message-id': 'order' } })).toStartWith('headers.Message-ID: ');
    // Payload: an empty text for what there is none of.
    expect(await post({ cc: '', bcc: '', reply_to: '', text: '', attachments: [] })).toMatchObject({
      cc: [],
      bcc: [],
      replyTo: [],
    });
    // Anymail: a list for tags, and names with commas as encoded words.
    expect(await post({ headers: { 'X-Tag': ['welcome', 'shop'] } })).toMatchObject({
      headers: { 'X-Tag': 'welcome, shop' },
    });
    const acme = '=?utf-8?q?Acme=2C_=22the=22?= =?utf-8?b?IEJhY2s=?= <';
    expect(await post({ to: [`${acme}${EMAIL.to}>`], reply_to: `${acme}help@acme.example>` })).toMatchObject({
      to: [`"Acme, \\"the\\" Back" <${EMAIL.to}>`],
      replyTo: ['"Acme, \\"the\\" Back" <help@acme.example>'],
    });
    expect(await post({ headers: ['x'] })).toStartWith('headers');
  });

  test('schedules, moves and cancels', async () => {
    const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const id = idOf(await resend.emails.send({ ...EMAIL, scheduledAt: later(1) }));
    expect((await resend.emails.get(id)).data?.last_event).toBe('scheduled');
    expect((await resend.emails.update({ id, scheduledAt: later(2) })).data).toEqual({ object: 'email', id });
    expect((await resend.emails.cancel(id)).data).toEqual({ object: 'email', id });
    expect((await resend.emails.get(id)).data?.last_event).toBe('canceled');
    expect((await resend.emails.cancel(id)).error).toMatchObject({
      statusCode: 409,
      name: 'validation_error',
    });
  });

  test('sends once for a key, and reports another email under it', async () => {
    const options = { idempotencyKey: 'receipt-1' };
    const first = idOf(await resend.emails.send(EMAIL, options));
    const again = await resend.emails.send(EMAIL, options);
    expect(idOf(again)).toBe(first);
    expect(again.headers?.['idempotency-replayed']).toBe('true');
    const other = await resend.emails.send({ ...EMAIL, subject: 'Another' }, options);
    expect(other.error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
  });

  test('sends a template with variables', async () => {
    const made = await createClient(service.url, TEST_KEY).post('/v1/templates', {
      name: 'Welcome',
      alias: 'welcome',
      format: 'html',
      subject: 'Hello {{ name }}',
      html: '<p>{{ name }}</p>',
      variables: [{ key: 'name', type: 'string', required: true }],
    });
    expect(made.status).toBe(201);
    const { from, to } = EMAIL;
    const id = idOf(
      await resend.emails.send({ from, to, template: { id: 'welcome', variables: { name: 'Ada' } } }),
    );
    expect((await resend.emails.get(id)).data).toMatchObject({ subject: 'Hello Ada', html: '<p>Ada</p>' });
    const missing = await resend.emails.send({ from, to, template: { id: 'welcome' } });
    expect(missing.error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    expect(missing.error?.message).toContain('template.variables.name');
  });

  test('is refused in its own words', async () => {
    const wrong = await resend.emails.send({ ...EMAIL, to: 'nobody', replyTo: 'nowhere' });
    expect(wrong.error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    expect(wrong.error?.message).toMatch(/^to: .*reply_to: /);
    expect((await at('svc_test_wrong').emails.send(EMAIL)).error).toMatchObject({
      statusCode: 401,
      name: 'invalid_api_key',
    });
    expect((await at(LIVE_KEY).emails.send(EMAIL)).error).toMatchObject({
      statusCode: 403,
      name: 'restricted_api_key',
    });
    expect((await resend.emails.get('49a3999c-0ce1-4ea6-ab68-afcd6dc2e794')).error).toMatchObject({
      statusCode: 404,
      name: 'not_found',
    });
    const elsewhere = await resend.domains.list();
    expect(elsewhere.error).toMatchObject({ statusCode: 404, name: 'not_found' });
    expect(elsewhere.error?.message).toContain('/v1');
    // Whatever is sent there, also what no endpoint of ours could read.
    const unknown = await Promise.all([
      resend.domains.create({ name: 'acme.example' }),
      resend.apiKeys.create({ name: 'k' }),
      resend.audiences.create({ name: 'a' }),
      resend.contacts.list({ audienceId: 'a' }),
      resend.emails.receiving.list(),
      resend.emails.receiving.get('r'),
    ]);
    for (const { error } of unknown) expect(error).toEqual(elsewhere.error);
    for (const [type, body] of [
      ['text/plain', 'x'],
      ['application/json', '{"a":'],
      ['multipart/form-data; boundary=x', '--x--'],
    ] as const)
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const reply = await fetch(`${service.url}/compat/resend/segments?limit=1`, {
          method,
          headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': type },
          body,
        });
        expect([method, reply.status, await reply.json()]).toEqual([
          method,
          404,
          expect.objectContaining({ statusCode: 404, name: 'not_found' }),
        ]);
      }
    const unsupported = await resend.emails.send({ ...EMAIL, topicId: 't' });
    expect(unsupported.error?.message).toContain('topic_id');
    const remote = await resend.emails.send({
      ...EMAIL,
      attachments: [{ path: 'https://a.example/a.pdf', filename: 'a.pdf' }],
    });
    expect(remote.error?.message).toContain('attachments.0.path');
    const named = await resend.emails.send({ ...EMAIL, headers: { constructor: 1 } });
    expect(named.error?.message).toMatch(/^headers\.constructor: /);
    const camel = await fetch(`${service.url}/compat/resend/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...EMAIL, replyTo: 'a@acme.example', headers: { variables: 1 } }),
    });
    expect(((await camel.json()) as { readonly message: string }).message).toMatch(
      /^replyTo: No such member; .*reply_to.* headers\.variables: Send a string or an array\.$/,
    );
    const wrongFile = { filename: 'a.txt', content: 'eA==', contentType: 'text' };
    const typed = await resend.emails.send({ ...EMAIL, attachments: [wrongFile] });
    expect(typed.error?.message).toStartWith('attachments.0.content_type: ');
    const soon = await resend.batch.send([EMAIL, { ...EMAIL, scheduledAt: 'soon' }]);
    expect(soon.error?.message).toStartWith('1.scheduled_at: ');
    const none = await resend.batch.send([]);
    expect(none.error?.message).toMatch(/^Give at least 1 item/);
  });

  test('may not do what its key has no permission for', async () => {
    const made = await createClient(service.url, TEST_KEY).post('/v1/api-keys', {
      name: 'Reader',
      env: 'test',
      permissions: ['emails:read'],
    });
    const reader = at(made.body.data.key);
    const { error } = await reader.emails.send(EMAIL);
    expect(error).toMatchObject({ statusCode: 403, name: 'restricted_api_key' });
    expect(error?.message).toContain('emails:send');
  });

  test('sends a batch as a whole or not at all', async () => {
    const count = async () => (await ours('/v1/emails?subject=Batch&limit=100')).body.data.length as number;
    const email = { ...EMAIL, subject: 'Batch' };
    const refused = await resend.batch.send([email, { ...email, to: 'nobody' }, email]);
    expect(refused.error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    expect(refused.error?.message).toStartWith('1.to: ');
    expect(await count()).toBe(0);
    const options = { idempotencyKey: 'batch-1' };
    const { data } = await resend.batch.send([email, email], options);
    expect(data?.data.length).toBe(2);
    expect((await resend.batch.send([email, email], options)).data).toEqual(data);
    expect(await count()).toBe(2);
    const most = await resend.batch.send(Array.from({ length: 101 }, () => email));
    expect(most.error).toMatchObject({ statusCode: 422, name: 'validation_error' });
  });

  test('sends the valid emails of a permissive batch, and reports the rest', async () => {
    const { data } = await resend.batch.send([EMAIL, { ...EMAIL, to: 'nobody' }, EMAIL], {
      batchValidation: 'permissive',
    });
    expect(data?.data.length).toBe(2);
    expect(data?.errors).toEqual([
      { index: 1, message: expect.stringContaining('to: ') as unknown as string },
    ]);
  });

  // Last, since nothing can be sent with test keys after it.
  test('reports the cap of test sends as one of the day', async () => {
    const refusal = await eventually(
      'the cap',
      async () => (await resend.emails.send(EMAIL)).error ?? undefined,
    );
    expect(refusal).toMatchObject({ statusCode: 429, name: 'daily_quota_exceeded' });
  });
});
