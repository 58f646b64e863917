import { expect, test } from 'bun:test';
import type { KeyPrincipal } from '../../../src/http/auth/principal.ts';
import { Recollection } from '../../../src/http/auth/recollection.ts';
import { RateLimiter } from '../../../src/http/limits/rate-limit.ts';
import {
  type AdmissionDeps,
  type AdmissionRequest,
  answeredBy,
} from '../../../src/http/request/admission.ts';
import type { Endpoint } from '../../../src/http/request/endpoint.ts';
import { Failure } from '../../../src/platform/errors/failure.ts';
import { UnavailableError } from '../../../src/platform/errors/unavailable.ts';
import { LocalCounter } from '../../../src/platform/time/window-counter.ts';

const KEY = `svc_test_${'a'.repeat(32)}`;
const TERMS = 'key_1 as it was';
const endpoint = { route: { path: '/v1/emails' }, refuse: () => null } as unknown as Endpoint;

const principal = (terms: string): KeyPrincipal => ({
  kind: 'key',
  id: 'key_1',
  workspaceId: 'ws_1',
  livemode: false,
  permissions: ['*'],
  plan: 'free',
  senderDefaults: { from: null, replyTo: null },
  terms,
});

/** The answer to a remembered key which the database has as `found` by now. */
async function answered(found: () => KeyPrincipal | null, work: (recollection: Recollection) => unknown) {
  const recollection = new Recollection(TERMS);
  const counter = new LocalCounter(60_000, () => 0);
  const deps: AdmissionDeps = {
    authenticate: async () => found(),
    baseUrl: 'http://localhost',
    limiter: new RateLimiter({ perAddress: 0, perKey: 0 }, counter, counter),
    clientAddress: () => '',
  };
  const request = new Request('http://localhost/v1/emails', { headers: { authorization: `Bearer ${KEY}` } });
  const asking: AdmissionRequest = {
    endpoint,
    request,
    path: '/v1/emails',
    socketAddress: '',
    now: 0,
    client: '',
    rateLimit: null,
    caller: null,
    isCounted: true,
  };
  const caller = { ...principal(TERMS), recollection };
  try {
    return await answeredBy({ endpoint, caller }, asking, () => work(recollection), deps);
  } catch (thrown) {
    return thrown;
  }
}

const throwing = (error: Error) => () => {
  throw error;
};

const code = (told: unknown) => (told instanceof Failure ? told.code : told);

test('a revoked key gets 401, and not the error of its work', async () => {
  expect(code(await answered(() => null, throwing(new UnavailableError('full'))))).toBe('UNAUTHORIZED');
  expect(code(await answered(() => null, throwing(new Error('broken'))))).toBe('UNAUTHORIZED');
});

test('what may have been written is never answered as a refusal', async () => {
  const lost = new UnavailableError('lost', 'unknown');
  expect(await answered(() => null, throwing(lost))).toBe(lost);
  const late = new Error('after the commit');
  const told = await answered(
    () => null,
    (recollection) => {
      recollection.confirm();
      throw late;
    },
  );
  expect(told).toBe(late);
});

test('an unchanged key gets the error of its work, also when it cannot be looked up', async () => {
  const full = new UnavailableError('full');
  expect(await answered(() => principal(TERMS), throwing(full))).toBe(full);
  expect(await answered(throwing(new UnavailableError('away')), throwing(full))).toBe(full);
});
