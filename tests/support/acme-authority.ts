import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { createTestAuthority, type Dates } from './acme-certificates.ts';

/**
 * A certificate authority that speaks ACME (RFC 8555) over HTTPS on the loopback, as far as HTTP-01 needs it.
 */
export interface AcmeAuthority extends AsyncDisposable {
  readonly directoryUrl: string;
  /** The certificate that its clients trust, in PEM. */
  readonly root: string;
  /** The requests to it, by the last part of the path: `new-order`, `finalize`. */
  asked(what: string): number;
  /** Its fault from now on. */
  faults: {
    /** Answers requests of this name with a status instead. */
    refuse?: { readonly what: string; readonly status: number; readonly retryAfter?: string };
    /** Lets downloads of certificates wait for it. */
    holdDownload?: Promise<void>;
    /** Refuses so many nonces in a row. */
    badNonces?: number;
    /** Answers in place of the authority, or changes its answer. */
    around?: (what: string, answer: () => Promise<Response>) => Promise<Response> | Response;
  };
}

export interface AcmeAuthorityOptions {
  /** The port on the loopback that it validates at, in place of 80. */
  readonly validateAt: () => number;
  /** The dates of the next certificate. */
  readonly dates: () => Dates;
}

type JsonWebKey = import('node:crypto').webcrypto.JsonWebKey;
type Json = Record<string, unknown>;
type Status = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';

interface Order {
  readonly host: string;
  readonly account: string;
  readonly token: string;
  status: Status;
  challenge: 'pending' | 'valid' | 'invalid';
  error: Json | null;
  chain: string | null;
}

class Problem extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    detail: string,
  ) {
    super(detail);
  }
}

const bytes = (part: string): Buffer => Buffer.from(part, 'base64url');
const json = (part: string): Json => JSON.parse(bytes(part).toString() || 'null') as Json;
const thumbprint = ({ crv, kty, x, y }: JsonWebKey): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');

/** Starts the authority. */
export async function startAcmeAuthority({
  validateAt,
  dates,
}: AcmeAuthorityOptions): Promise<AcmeAuthority> {
  const issuer = await createTestAuthority();
  const day = 86_400_000;
  const tls = await issuer.own({
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + day),
  });
  const nonces = new Set<string>();
  const accounts = new Map<string, JsonWebKey>();
  const orders = new Map<string, Order>();
  const counts = new Map<string, number>();
  let asksAnew = true;

  const nonce = (): string => {
    const made = randomUUID();
    nonces.add(made);
    return made;
  };

  /** Reads a signed request (RFC 8555, 6.2 to 6.5): whose it is, and what it says. */
  const open = async (request: Request, base: string) => {
    const { protected: head, payload, signature } = (await request.json()) as Record<string, string>;
    const {
      alg,
      nonce: used,
      url,
      jwk,
      kid,
    } = json(head ?? '') as Record<string, string> & { jwk?: JsonWebKey };
    if (url !== request.url || alg !== 'ES256')
      throw new Problem(400, 'malformed', 'The url or alg is wrong.');
    // RFC 8555, 6.1 and 6.2.
    if (!request.headers.get('user-agent')?.startsWith('Posthorn/'))
      throw new Problem(400, 'malformed', 'The User-Agent is missing.');
    if (request.headers.get('content-type') !== 'application/jose+json')
      throw new Problem(415, 'malformed', 'The Content-Type is wrong.');
    // Every authority may refuse a nonce that it gave out; this one refuses the first.
    const { badNonces = 0 } = authority.faults;
    if (!nonces.delete(used ?? '') || asksAnew || badNonces > 0) {
      asksAnew = false;
      authority.faults.badNonces = badNonces - 1;
      throw new Problem(400, 'badNonce', 'Take another nonce.');
    }
    const key = jwk ?? accounts.get(kid ?? '');
    if (!key) throw new Problem(400, 'accountDoesNotExist', 'There is no such account.');
    const signed = verify(
      'sha256',
      Buffer.from(`${head}.${payload}`),
      { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
      bytes(signature ?? ''),
    );
    if (!signed) throw new Problem(400, 'malformed', 'The signature is wrong.');
    return { account: kid ?? `${base}/account/${thumbprint(key)}`, key, body: json(payload ?? '') };
  };

  /** Asks for the answer at the host itself (8.3), which is this machine on another port. */
  const validate = async (order: Order): Promise<void> => {
    const expected = `${order.token}.${thumbprint(accounts.get(order.account) as JsonWebKey)}`;
    const answer = await fetch(`http://127.0.0.1:${validateAt()}/.well-known/acme-challenge/${order.token}`, {
      headers: { host: order.host },
    })
      .then((response) => response.text())
      .catch(String);
    const isRight = answer.trimEnd() === expected;
    order.challenge = isRight ? 'valid' : 'invalid';
    order.status = isRight ? 'ready' : 'invalid';
    if (!isRight) order.error = { type: 'urn:ietf:params:acme:error:unauthorized', detail: 'Wrong answer' };
  };

  const orderJson = (base: string, id: string, order: Order): Json => ({
    status: order.status,
    identifiers: [{ type: 'dns', value: order.host }],
    authorizations: [`${base}/authorization/${id}`],
    finalize: `${base}/order/${id}/finalize`,
    ...(order.chain !== null && order.status === 'valid' && { certificate: `${base}/certificate/${id}` }),
  });

  const answer = async (request: Request): Promise<Response> => {
    const { origin: base, pathname } = new URL(request.url);
    const [, first = '', id = '', last = first] = pathname.split('/');
    counts.set(last, (counts.get(last) ?? 0) + 1);
    const { refuse } = authority.faults;
    if (refuse?.what === last) {
      const headers = refuse.retryAfter === undefined ? {} : { 'retry-after': refuse.retryAfter };
      const problem = { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'Not now' };
      return Response.json(problem, { status: refuse.status, headers });
    }
    if (first === 'directory')
      return Response.json({
        newNonce: `${base}/new-nonce`,
        newAccount: `${base}/new-account`,
        newOrder: `${base}/new-order`,
        meta: { termsOfService: `${base}/terms` },
      });
    if (first === 'new-nonce') return new Response(null);
    const { account, key, body } = await open(request, base);
    if (first === 'new-account') {
      if (body.termsOfServiceAgreed !== true)
        throw new Problem(403, 'userActionRequired', 'Agree to the terms.');
      const isNew = !accounts.has(account);
      accounts.set(account, key);
      return Response.json(
        { status: 'valid' },
        { status: isNew ? 201 : 200, headers: { location: account } },
      );
    }
    if (first === 'new-order') {
      const [{ value: host }] = body.identifiers as [{ value: string }];
      const made = randomUUID();
      const order: Order = {
        host,
        account,
        token: randomUUID(),
        status: 'pending',
        challenge: 'pending',
        error: null,
        chain: null,
      };
      orders.set(made, order);
      return Response.json(orderJson(base, made, order), {
        status: 201,
        headers: { location: `${base}/order/${made}` },
      });
    }
    if (first === 'account') return Response.json({ status: 'valid' });
    const order = orders.get(id);
    if (!order || order.account !== account) throw new Problem(404, 'malformed', 'There is no such order.');
    const challenge = {
      type: 'http-01',
      url: `${base}/challenge/${id}`,
      token: order.token,
      status: order.challenge,
      ...(order.error && { error: order.error }),
    };
    if (first === 'authorization')
      return Response.json({
        status: order.challenge,
        identifier: { type: 'dns', value: order.host },
        challenges: [challenge],
      });
    if (first === 'challenge') {
      await validate(order);
      return Response.json(challenge);
    }
    if (first === 'certificate') {
      await authority.faults.holdDownload;
      return new Response(order.chain, { headers: { 'content-type': 'application/pem-certificate-chain' } });
    }
    if (last === 'finalize') {
      if (order.status !== 'ready') throw new Problem(403, 'orderNotReady', 'The order is not ready.');
      const csr = bytes(String(body.csr));
      if (String(await issuer.namesIn(csr)) !== order.host) throw new Problem(400, 'badCSR', 'Other names.');
      order.chain = await issuer.issue(csr, dates());
      order.status = 'processing';
    } else if (order.status === 'processing') order.status = 'valid';
    return Response.json(orderJson(base, id, order), { headers: { location: `${base}/order/${id}` } });
  };

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls,
    async fetch(request) {
      const answered = () =>
        answer(request).catch((error: unknown) => {
          const { status, type, message } =
            error instanceof Problem ? error : new Problem(500, 'serverInternal', String(error));
          return Response.json({ type: `urn:ietf:params:acme:error:${type}`, detail: message }, { status });
        });
      const { around } = authority.faults;
      const what = new URL(request.url).pathname.split('/');
      const response = await (around?.(what[3] ?? what[1] ?? '', answered) ?? answered());
      // Only answers to signed requests have to bring one (RFC 8555, 6.5).
      if (what[1] !== 'directory') response.headers.set('replay-nonce', nonce());
      return response;
    },
  });
  const authority: AcmeAuthority = {
    directoryUrl: `https://127.0.0.1:${server.port}/directory`,
    root: issuer.root,
    faults: {},
    asked: (what) => counts.get(what) ?? 0,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
  return authority;
}
