import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { AcmeRefusal, retryAfterMs } from '../../src/http/certificates/acme-client.ts';
import { type OrderProgress, type OrderState, obtain } from '../../src/http/certificates/authority.ts';
import { type AcmeAuthority, startAcmeAuthority } from '../support/acme-authority.ts';

const HOST = 'mail.example.com';
const NOTHING: OrderState = { accountKey: null, accountUrl: null, orderUrl: null, orderKey: null };

let authority: AcmeAuthority;
let site: Bun.Server<undefined>;
/** The progress of the last order. */
let saved: OrderProgress;
let pauses: number[];

beforeAll(async () => {
  site = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(saved.challenge?.answer ?? 'none'),
  });
  authority = await startAcmeAuthority({
    validateAt: () => site.port ?? 0,
    dates: () => ({ notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 9e9) }),
  });
});

afterAll(async () => {
  await authority[Symbol.asyncDispose]();
  await site.stop(true);
});

beforeEach(() => {
  authority.faults = {};
  saved = {};
  pauses = [];
});

/** Orders a certificate; returns the host that it holds for. */
async function order(state: OrderState = NOTHING, signal = new AbortController().signal): Promise<string> {
  const { certificate } = await obtain({
    directoryUrl: authority.directoryUrl,
    host: HOST,
    email: 'ops@example.com',
    ca: authority.root,
    state,
    signal,
    save: async (progress) => {
      saved = { ...saved, ...progress };
    },
    waits: {
      pollMs: 3,
      settleMs: 2,
      pause: async (ms) => {
        pauses.push(ms);
      },
    },
  });
  return new X509Certificate(certificate).checkHost(HOST) ?? 'none';
}

const problem = (type: string, detail: string, status = 403): Response =>
  Response.json({ type: `urn:ietf:params:acme:error:${type}`, detail }, { status });

/** An answer of this kind, once, in place of the authority's. */
const once = (what: string, instead: () => Response) => {
  let isDone = false;
  authority.faults.around = (asked, answer) => {
    if (asked !== what || isDone) return answer();
    isDone = true;
    return instead();
  };
};

const withHeader = (what: string, name: string, value: string) => {
  authority.faults.around = async (asked, answer) => {
    const response = await answer();
    if (asked === what) response.headers.set(name, value);
    return response;
  };
};

describe('an order at an authority', () => {
  test('goes on with another nonce after five refused ones, and gives up after the sixth', async () => {
    await order();
    authority.faults.badNonces = 5;
    expect(await order()).toBe(HOST);
    authority.faults.badNonces = 6;
    const refused = await order().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AcmeRefusal);
    expect(refused).toMatchObject({ type: 'badNonce', message: 'Take another nonce.' });
  });

  test('waits before a poll as long as the authority asks for, and no shorter than usual', async () => {
    await order();
    expect(pauses).toEqual([2, 3]);
    pauses = [];
    withHeader('finalize', 'retry-after', '7');
    expect(await order()).toBe(HOST);
    expect(pauses).toEqual([2, 7_000]);
  });

  test.each(['30', '31', '2147483', '2147484', '999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'waits before a poll no longer than 30 seconds when the authority asks for %s',
    async (wait) => {
      withHeader('finalize', 'retry-after', wait);
      expect(await order()).toBe(HOST);
      expect(pauses).toEqual([2, 30_000]);
    },
  );

  test('polls on when the authority says of an order that it showed as ready that it is not', async () => {
    once('finalize', () => problem('orderNotReady', 'Not yet.'));
    expect(await order()).toBe(HOST);
    expect(pauses).toEqual([2, 3, 3]);
  });

  test('names a problem in the words of the authority, and the page where a person has to act', async () => {
    once('new-order', () =>
      Response.json(
        {
          type: 'urn:ietf:params:acme:error:userActionRequired',
          detail: 'Terms of\n service changed.',
          instance: 'https://ca.example/terms',
        },
        { status: 403, headers: { 'retry-after': '60' } },
      ),
    );
    const refused = await order().catch((error: unknown) => error);
    expect(refused).toMatchObject({
      message: 'Terms of service changed. See https://ca.example/terms',
      type: 'userActionRequired',
      retryAfterMs: 60_000,
    });
  });

  test.each([
    [
      'a page of a proxy',
      'new-order',
      () => new Response('<h1>Bad</h1>', { status: 502 }),
      /answered 502 to https/,
    ],
    [
      'an answer that is too long',
      'directory',
      () => new Response('x'.repeat(1_048_577)),
      /longer than 1 MB/,
    ],
    ['no JSON', 'directory', () => new Response('hello'), /not https: none/],
    [
      'an address without TLS',
      'directory',
      () => Response.json({ newNonce: 'http://127.0.0.1:1/', newAccount: 'http://127.0.0.1:1/' }),
      /not https: http:\/\/127/,
    ],
    [
      'an order without an address',
      'new-order',
      () => Response.json({}, { status: 201 }),
      /order no address/,
    ],
    ['an unknown state', 'finalize', () => Response.json({ status: 'lost' }), /order became lost/],
    [
      'a private key',
      'certificate',
      () => new Response('-----BEGIN PRIVATE KEY-----'),
      /else than certificates/,
    ],
  ] as const)('fails in words on %s', async (_name, what, instead, message) => {
    once(what, instead);
    await expect(order()).rejects.toThrow(message);
  });

  test.each([301, 302, 303, 307, 308])(
    'follows no redirect of status %i, to whatever address',
    async (status) => {
      let visits = 0;
      await using elsewhere = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () => Response.json({ visits: ++visits }),
      });
      const plain = `http://127.0.0.1:${elsewhere.port}/`;
      const shownOf = (to: string | null): string => {
        if (to === '/relative') return new URL(to, authority.directoryUrl).href;
        return to?.startsWith('http') ? to : 'no web address';
      };
      for (const what of ['directory', 'new-nonce', 'new-account', 'new-order'])
        for (const to of [plain, 'https://127.0.0.1:1/', '/relative', 'file:///etc/passwd', null]) {
          once(what, () => new Response(null, { status, ...(to !== null && { headers: { location: to } }) }));
          await expect(order()).rejects.toThrow(
            `/${what} to ${shownOf(to)}. Redirects are not followed: set ACME_`,
          );
        }
      expect(visits).toBe(0);
    },
  );

  /** Answers with the authorization, changed. */
  const withToken = (token: unknown) => {
    authority.faults.around = async (what, answer) => {
      const response = await answer();
      if (what !== 'authorization') return response;
      const { challenges, ...rest } = (await response.json()) as { challenges: [object] };
      return Response.json({ ...rest, challenges: [{ ...challenges[0], token }] });
    };
  };

  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['of 129 characters', 'a'.repeat(129)],
    ['a path', '../x'],
    ['with a line break', 'abc\n'],
    ['with a NUL', 'a\0b'],
    ['outside ASCII', 'äbc'],
    ['padded', 'abc='],
    ['a number', 12],
    ['a list', ['abc']],
  ])('stores no answer for a token that is %s', async (_name, token) => {
    withToken(token);
    await expect(order()).rejects.toThrow('not 1 to 128 characters of base64url');
    expect(saved.challenge).toBeUndefined();
  });

  test.each(['a', '-_9', 'a'.repeat(128)])('stores the answer for the token %s', async (token) => {
    withToken(token);
    await order().catch(() => {});
    expect(saved.challenge?.token).toBe(token);
    expect(saved.challenge?.answer.split('.')).toEqual([token, expect.stringMatching(/^[\w-]{43}$/)]);
  });

  test.each<[detail: unknown, instance: unknown, message: string]>([
    ['A.', 'http://ca.example/a', 'A. See http://ca.example/a'],
    ['A', 'https://ca.example/a\n[error] forged', 'A. See https://ca.example/a[error]%20forged'],
    ['A', 'https://ca.example/\u001b[31m\0', 'A. See https://ca.example/%1B[31m'],
    ['A', 'javascript:alert(1)', 'A.'],
    ['A', 'data:text/html,x', 'A.'],
    ['A', 'not an address', 'A.'],
    ['A', 7, 'A.'],
    ['A', `https://ca.example/${'a'.repeat(181)}`, `A. See https://ca.example/${'a'.repeat(181)}`],
    ['A', `https://ca.example/${'a'.repeat(182)}`, 'A.'],
    ['a\r\n\u001b[31m\0  b\u202e', undefined, 'a [31m b.'],
    ['a'.repeat(251), undefined, `${'a'.repeat(250)}.`],
    [`${'a'.repeat(249)}😀`, 'https://ca.example/', `${'a'.repeat(249)}. See https://ca.example/`],
  ])('tells of the problem %j with the page %j in one line', async (detail, instance, message) => {
    once('new-order', () => Response.json({ detail, instance }, { status: 403 }));
    const refused = await order().catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'AcmeRefusal', message });
  });

  test('takes an answer of exactly 1 MB', async () => {
    authority.faults.around = async (what, answer) => {
      const response = await answer();
      if (what !== 'directory') return response;
      const text = await response.text();
      return new Response(text + ' '.repeat(1_048_576 - text.length));
    };
    expect(await order()).toBe(HOST);
  });

  test('opens no second account for a key, and resumes the order that it has begun', async () => {
    await order();
    const { accountKey = null, accountUrl = null } = saved;
    expect(await order({ ...NOTHING, accountKey })).toBe(HOST);
    expect(saved.accountUrl).toBe(accountUrl ?? '');
    once('certificate', () => problem('serverInternal', 'Later.', 500));
    await expect(order({ ...NOTHING, accountKey, accountUrl })).rejects.toThrow('Later.');
    const { orderUrl = null, orderKey = null } = saved;
    const before = authority.asked('new-order');
    expect(await order({ accountKey, accountUrl, orderUrl, orderKey })).toBe(HOST);
    expect(authority.asked('new-order')).toBe(before);
  });

  test('ends with the reason of its signal while a request is under way', async () => {
    const stop = new AbortController();
    authority.faults.around = (what, answer) => {
      if (what === 'new-order') stop.abort(new Error('The service stops.'));
      return answer();
    };
    await expect(order(NOTHING, stop.signal)).rejects.toThrow('The service stops.');
  });
});

test('an authority that is away is named with its address', async () => {
  const gone = obtain({
    directoryUrl: 'https://127.0.0.1:1/directory',
    host: HOST,
    email: null,
    ca: null,
    state: NOTHING,
    save: async () => {},
    signal: new AbortController().signal,
    waits: { pollMs: 1, settleMs: 1 },
  });
  await expect(gone).rejects.toThrow(
    'The certificate authority cannot be reached at https://127.0.0.1:1/directory',
  );
});

test('Retry-After counts seconds, or names a moment by the clock of the authority', () => {
  const date = 'Fri, 01 Jan 2027 00:00:00 GMT';
  const waitOf = (wait: string): number => retryAfterMs(new Headers({ date, 'retry-after': wait }));
  expect(waitOf('0')).toBe(0);
  expect(waitOf('120')).toBe(120_000);
  expect(waitOf('Fri, 01 Jan 2027 00:01:00 GMT')).toBe(60_000);
  for (const odd of ['', '-5', 'soon', '1.5', '9'.repeat(10), 'Thu, 31 Dec 2026 00:00:00 GMT'])
    expect(waitOf(odd)).toBe(0);
  expect(retryAfterMs(new Headers({ date }))).toBe(0);
});
