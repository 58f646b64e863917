import { describe, expect, test } from 'bun:test';
import {
  isPosthornError,
  Posthorn,
  type PosthornError,
  type PosthornOptions,
  type RenderReact,
  settle,
} from '../../src/web/client/posthorn.ts';
import { retryAfterOf, waitAfter } from '../../src/web/client/retries.ts';

type Sent = {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
};

const RECEIPT = { id: 'em_1', livemode: false, status: 'queued', scheduledAt: null, createdAt: '' };
const EMAIL = { from: 'a@a.example', to: 'b@b.example', subject: 'x', text: 'y' };

const ok = (data: unknown, more = {}) => Response.json({ data, ...more });
const refused = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json(
    {
      error: {
        code,
        message: `${code}.`,
        docs: 'd',
        ...(code === 'VALIDATION_ERROR' && { details: [{ path: '/body/to', message: 'm' }] }),
      },
    },
    { status, headers: { 'x-request-id': 'req_1', ...headers } },
  );

/** A client whose service answers these one after the other; an Error is a connection that breaks. */
function clientOf(
  answers: (Response | Error)[],
  options: Pick<PosthornOptions, 'timeoutMs' | 'maxRetries' | 'render'> = {},
) {
  const sent: Sent[] = [];
  const client = new Posthorn({
    apiKey: 'svc_test_x',
    baseUrl: 'https://mail.example.com/',
    backoff: { firstMs: 1, mostMs: 5_000 },
    ...options,
    fetch: async (url, init) => {
      sent.push({
        url,
        method: init.method ?? '',
        headers: init.headers as Record<string, string>,
        body: init.body,
      });
      const answer = answers.shift();
      if (!answer) throw new Error('More requests than the test has answers.');
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { client, sent };
}

const failureOf = async (call: Promise<unknown>): Promise<PosthornError> => {
  const { error } = await settle(call);
  if (!error) throw new Error('It succeeded.');
  return error;
};

describe('a POST of the client', () => {
  test('keeps one key over its retries, and the next call has another', async () => {
    const { client, sent } = clientOf([
      new Error('reset'),
      refused(500, 'INTERNAL_ERROR'),
      ok(RECEIPT),
      ok(RECEIPT),
    ]);
    expect((await client.emails.send(EMAIL)).id).toBe('em_1');
    await client.emails.send(EMAIL);
    const keys = sent.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  });

  test('takes a key of the caller', async () => {
    const { client, sent } = clientOf([ok(RECEIPT)]);
    await client.emails.send(EMAIL, { idempotencyKey: 'receipt-7' });
    expect(sent[0]).toMatchObject({
      url: 'https://mail.example.com/v1/emails',
      method: 'POST',
      headers: {
        authorization: 'Bearer svc_test_x',
        'content-type': 'application/json',
        'idempotency-key': 'receipt-7',
      },
    });
  });

  test('that changes nothing has a key only of the caller', async () => {
    const { client, sent } = clientOf(Array.from({ length: 5 }, () => ok({})));
    await client.templates.preview({ html: 'x' });
    await client.audiences.preview({ filter: { field: 'email', operator: 'exists', value: true } });
    await client.flows.validate('flw_1');
    await client.flows.simulate('flw_1', { contact: {} });
    await client.templates.preview({ html: 'x' }, { idempotencyKey: 'shown-7' });
    const keys = sent.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([undefined, undefined, undefined, undefined, 'shown-7']);
  });

  test('joins a test clock and takes a script, by the headers of a call', async () => {
    const { client, sent } = clientOf([ok(RECEIPT)]);
    await client.emails.send(EMAIL, { testClockId: 'clk_1', simulate: 'delivered, opened+5m' });
    expect(sent[0]?.headers).toMatchObject({
      'x-svc-test-clock': 'clk_1',
      'x-svc-simulate': 'delivered, opened+5m',
    });
  });
});

describe('what is sent again', () => {
  test.each([
    [429, 'RATE_LIMITED'],
    [409, 'IDEMPOTENCY_IN_PROGRESS'],
    [500, 'INTERNAL_ERROR'],
    [503, 'SERVICE_UNAVAILABLE'],
  ])('%i %s', async (status, code) => {
    const { client, sent } = clientOf([refused(status, code), ok(RECEIPT)]);
    await client.emails.send(EMAIL);
    expect(sent.length).toBe(2);
  });

  test.each([
    [429, 'QUOTA_EXCEEDED'],
    [401, 'UNAUTHORIZED'],
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [409, 'CONFLICT'],
    [409, 'IDEMPOTENCY_CONFLICT'],
    [422, 'VALIDATION_ERROR'],
  ])('not %i %s', async (status, code) => {
    const { client, sent } = clientOf([refused(status, code)]);
    expect(await failureOf(client.emails.send(EMAIL))).toMatchObject({
      code,
      status,
      attempts: 1,
      requestId: 'req_1',
    });
    expect(sent.length).toBe(1);
  });

  test('a gateway whose service is away, but not a page of another server', async () => {
    const { client } = clientOf([new Response('<h1>Bad gateway</h1>', { status: 502 }), ok(RECEIPT)]);
    await client.emails.send(EMAIL);
    const other = clientOf([
      new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'application/json' } }),
    ]);
    expect(await failureOf(other.client.emails.get('em_1'))).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      status: 200,
    });
  });

  test('not a PATCH or a DELETE that may have been carried out, whose second refusal would hide that', async () => {
    const { client, sent } = clientOf([
      new Error('reset'),
      refused(503, 'SERVICE_UNAVAILABLE'),
      refused(429, 'RATE_LIMITED'),
      ok(RECEIPT),
    ]);
    expect((await failureOf(client.emails.cancel('em_1'))).code).toBe('CONNECTION_FAILED');
    expect((await failureOf(client.emails.reschedule('em_1', { scheduledAt: 'x' }))).code).toBe(
      'SERVICE_UNAVAILABLE',
    );
    await client.emails.cancel('em_1');
    expect(sent.map(({ method, headers }) => [method, headers['idempotency-key']])).toEqual([
      ['DELETE', undefined],
      ['PATCH', undefined],
      ['DELETE', undefined],
      ['DELETE', undefined],
    ]);
  });

  test('no more often than asked, and the last error is thrown', async () => {
    const broken = () => new Error('reset');
    const { client, sent } = clientOf([broken(), broken(), broken(), broken()]);
    expect(await failureOf(client.emails.get('em_1'))).toMatchObject({
      code: 'CONNECTION_FAILED',
      attempts: 4,
      status: null,
    });
    expect(sent.length).toBe(4);
    const never = clientOf([broken()], { maxRetries: 0 });
    expect((await failureOf(never.client.emails.get('em_1'))).attempts).toBe(1);
  });

  test('not before Retry-After, and not at all when that is beyond the longest wait', () => {
    const failure = { method: 'GET', code: 'RATE_LIMITED', status: 429, retryAfterSeconds: 4 };
    const backoff = { firstMs: 500, mostMs: 10_000 };
    expect(waitAfter(failure, 1, backoff, () => 0)).toBe(4_000);
    expect(waitAfter(failure, 1, backoff, () => 0.5)).toBe(4_250);
    expect(waitAfter({ ...failure, retryAfterSeconds: 11 }, 1, backoff)).toBeNull();
    expect(retryAfterOf('12', 0)).toBe(12);
    expect(retryAfterOf('Thu, 01 Jan 1970 00:00:30 GMT', 10_000)).toBe(20);
    expect([retryAfterOf(null, 0), retryAfterOf('soon', 0)]).toEqual([null, null]);
  });

  test('after any time up to a bound that doubles and ends', () => {
    const failure = { method: 'GET', code: 'RATE_LIMITED', status: 429, retryAfterSeconds: null };
    const waits = [1, 2, 3, 9].map((attempt) =>
      waitAfter(failure, attempt, { firstMs: 500, mostMs: 8_000 }, () => 1),
    );
    expect(waits).toEqual([500, 1_000, 2_000, 8_000]);
    expect(waitAfter(failure, 3, { firstMs: 500, mostMs: 8_000 }, () => 0)).toBe(0);
  });
});

describe('a call that ends early', () => {
  const never = (_url: string, { signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason)),
    );
  const silent = new Posthorn({ apiKey: 'k', baseUrl: 'http://a', fetch: never });

  test('by its time is TIMED_OUT', async () => {
    expect(await failureOf(silent.emails.get('em_1', { timeoutMs: 1, maxRetries: 0 }))).toMatchObject({
      code: 'TIMED_OUT',
    });
  });

  test('by the signal of the caller is rejected with its reason, also while it waits', async () => {
    const ending = new AbortController();
    const call = silent.emails.get('em_1', { signal: ending.signal });
    ending.abort('enough');
    expect(await call.catch((reason) => reason)).toBe('enough');
    const waiting = new AbortController();
    const limited = new Posthorn({
      apiKey: 'k',
      baseUrl: 'http://a',
      fetch: async () => {
        queueMicrotask(() => waiting.abort('enough'));
        return refused(429, 'RATE_LIMITED', { 'retry-after': '50' });
      },
    });
    expect(await limited.emails.get('em_1', { signal: waiting.signal }).catch((reason) => reason)).toBe(
      'enough',
    );
  });
});

describe('an error of the client', () => {
  test('is distinguished by its code, with what that code has', async () => {
    const error: unknown = await clientOf([refused(422, 'VALIDATION_ERROR')])
      .client.emails.send(EMAIL)
      .catch((e) => e);
    if (!isPosthornError(error) || error.code !== 'VALIDATION_ERROR') throw error;
    expect(error.details).toEqual([{ path: '/body/to', message: 'm' }]);
    const later = await failureOf(
      clientOf([refused(429, 'RATE_LIMITED', { 'retry-after': '60' })]).client.emails.get('em_1'),
    );
    if (later.code !== 'RATE_LIMITED') throw later;
    expect(later.retryAfterSeconds).toBe(60);
    expect(isPosthornError(new Error('x'))).toBe(false);
  });

  test('is thrown before anything is sent where a name would lead to another endpoint', async () => {
    const { client, sent } = clientOf([]);
    for (const id of ['', '.', '..'])
      expect(await client.contacts.get(id).catch((error) => error)).toBeInstanceOf(TypeError);
    expect(sent).toEqual([]);
    expect(() => new Posthorn({ apiKey: '', baseUrl: 'https://a' })).toThrow('apiKey');
    expect(() => new Posthorn({ apiKey: 'k', baseUrl: 'mail.example.com' })).toThrow('baseUrl');
  });

  test('does not come from signs in a name', async () => {
    const { client, sent } = clientOf([ok({})]);
    await client.contacts.get('a/b?c=d#e@x.example');
    expect(sent[0]?.url).toBe('https://mail.example.com/v1/contacts/a%2Fb%3Fc%3Dd%23e%40x.example');
  });
});

describe('a list', () => {
  const page = (data: number[], nextCursor: string | null) =>
    ok(data, { pagination: { hasMore: nextCursor !== null, nextCursor } });

  test('is walked over its pages, with the filters on each', async () => {
    const { client, sent } = clientOf([page([1, 2], 'c1'), page([], 'c2'), page([3], null)]);
    const seen: unknown[] = [];
    for await (const email of client.emails.list({ status: 'sent', to: undefined })) seen.push(email);
    expect(seen).toEqual([1, 2, 3]);
    expect(sent.map(({ url }) => url.split('?')[1])).toEqual([
      'status=sent',
      'status=sent&after=c1',
      'status=sent&after=c2',
    ]);
  });

  test('is read no further than it is used, and ends where it would go round', async () => {
    const few = clientOf([page([1, 2], 'c1')]);
    expect(await few.client.emails.list().take(2)).toEqual([1, 2] as never);
    const round = clientOf([page([1], 'c1'), page([2], 'c1')]);
    expect((await Array.fromAsync(round.client.emails.list())).length).toBe(2);
  });

  test('of events is followed from its cursor until the signal ends it', async () => {
    const ending = new AbortController();
    const log = (data: number[], nextCursor: string, hasMore = false) =>
      ok(data, { pagination: { hasMore, nextCursor } });
    const { client, sent } = clientOf([log([1], 'c1', true), log([2], 'c2'), log([], 'c2'), log([3], 'c3')]);
    const seen: unknown[] = [];
    const following = async () => {
      for await (const { data } of client.events.follow({ after: 'c0', everyMs: 0, signal: ending.signal })) {
        seen.push(...data);
        if (seen.length === 3) ending.abort('enough');
      }
    };
    expect(await following().catch((reason) => reason)).toBe('enough');
    expect(seen).toEqual([1, 2, 3]);
    expect(sent.map(({ url }) => new URL(url).searchParams.get('after'))).toEqual(['c0', 'c1', 'c2', 'c2']);
  });
});

/**
 * Imported by a name that the compiler does not follow: the types of React declare an empty `HTMLElement`,
 * which would take the place of the one that tests of the browser use.
 */
const react: { createElement(type: unknown, props: object | null, ...children: unknown[]): object } =
  await import('react' as string);
const {
  Heading,
  Html,
  Link,
  render,
}: Record<'Heading' | 'Html' | 'Link', unknown> & { render: RenderReact } = await import(
  '@react-email/components' as string
);
const { createElement } = react;

describe('an email with a React element', () => {
  const { text: _, ...head } = EMAIL;
  const link = createElement(Link, { href: 'https://acme.example/orders/7' }, 'View order');
  const element = createElement(Html, { lang: 'en' }, createElement(Heading, null, 'Order <7>'), link);
  const bodyOf = ({ body }: Sent) => JSON.parse(String(body));

  test('is sent with its html, and with its text where none is given', async () => {
    const { client, sent } = clientOf([ok(RECEIPT), ok(RECEIPT)], { render });
    await client.emails.send({ ...head, react: element });
    await client.emails.send({ ...head, react: element, text: 'Plain.' });
    const [first, second] = sent.map(bodyOf);
    expect(first).not.toHaveProperty('react');
    expect(first.html).toContain('Order &lt;7&gt;');
    expect(first.html).toContain('href="https://acme.example/orders/7"');
    expect(first.text).toContain('View order');
    expect(first.text).not.toContain('<h1');
    expect(second).toMatchObject({ html: first.html, text: 'Plain.' });
  });

  test('may stand beside others in a batch', async () => {
    const { client, sent } = clientOf([ok([])], { render });
    await client.emails.sendBatch([EMAIL, { ...head, react: element }]);
    const { emails } = bodyOf(sent[0] as Sent);
    expect(emails[0]).toEqual(EMAIL);
    expect(emails[1].html).toContain('Order &lt;7&gt;');
  });

  test('is not sent without a renderer, and not when a component throws', async () => {
    const { client, sent } = clientOf([]);
    expect(client.emails.send({ ...head, react: element })).rejects.toThrow(/needs a renderer/);
    const Broken = () => {
      throw new Error('no total');
    };
    const { client: other } = clientOf([], { render });
    expect(other.emails.send({ ...head, react: createElement(Broken, null) })).rejects.toThrow('no total');
    expect(sent).toEqual([]);
  });
});
