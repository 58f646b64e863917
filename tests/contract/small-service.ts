import { Type as T } from '@sinclair/typebox';
import type { Permission } from '../../src/http/auth/permissions.ts';
import type { KeyPrincipal, Principal } from '../../src/http/auth/principal.ts';
import { RateLimiter, type RateLimits } from '../../src/http/limits/rate-limit.ts';
import { listen, type SocketUpgrade } from '../../src/http/listen/listen.ts';
import { pageOf, pageQuery, positionOf } from '../../src/http/lists/pagination.ts';
import { replayOf } from '../../src/http/request/idempotency.ts';
import { mount } from '../../src/http/request/mount.ts';
import type { RequestTimeouts, ResponseMetrics } from '../../src/http/request/pipeline.ts';
import { RawResponse, type Route, route } from '../../src/http/request/route.ts';
import type { HangUpSignal } from '../../src/platform/async/deadline.ts';
import type { BudgetLimits } from '../../src/platform/async/keyed-budget.ts';
import { clientAddress, parseTrustedProxies } from '../../src/platform/config/client-address.ts';
import { Failure, type FailureCode, notFound } from '../../src/platform/errors/failure.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { LocalCounter } from '../../src/platform/time/window-counter.ts';

/** A handful of routes of every sort behind the real pipeline on a real socket, without a database. */
export interface SmallService extends Disposable {
  readonly url: string;
  readonly port: number;
  /** Both clocks, in milliseconds; they stand still unless a test moves them. */
  readonly clock: { now: number; monotonic: number };
  /** The work that handlers really did. */
  readonly done: string[];
  readonly logged: { fields: object; message: string }[];
  readonly observed: ResponseMetrics[];
  /** The keys that were looked up. */
  readonly lookedUp: string[];
  /** Lets one request through POST /v1/slow: the one that waits, or the next. */
  release(): void;
}

export interface SmallServiceOptions {
  readonly limits?: Partial<RateLimits>;
  readonly trustProxy?: string;
  readonly timeouts?: RequestTimeouts;
  readonly bodyBudget?: BudgetLimits;
  readonly authenticate?: (key: string) => Promise<KeyPrincipal | null>;
  readonly observe?: (answered: ResponseMetrics) => void;
  readonly sockets?: SocketUpgrade;
}

/** `keyOf('test', 'reader')`: what `startSmallService` knows as the key of a reader in test mode. */
export const keyOf = (env: 'live' | 'test', name: string): string => `svc_${env}_${name.padEnd(32, '0')}`;

const HOLDERS: Record<string, readonly Permission[]> = {
  all: ['*'],
  sender: ['emails:send'],
  reader: ['emails:read'],
  both: ['emails:send', 'campaigns:write'],
};

const PRINCIPALS = new Map<string, KeyPrincipal>(
  Object.entries(HOLDERS).flatMap(([name, permissions]) =>
    (['live', 'test'] as const).map((env): [string, KeyPrincipal] => [
      keyOf(env, name),
      {
        kind: 'key',
        id: `key_${env}_${name}`,
        workspaceId: 'ws_1',
        livemode: env === 'live',
        permissions,
        plan: 'free',
        senderDefaults: { from: null, replyTo: null },
      },
    ]),
  ),
);

/**
 * `session=operator` and `session=reader`: the sessions of browsers that `startSmallService` knows by their
 * cookies.
 */
const SESSIONS = new Map<string, Principal>([
  [
    'session=operator',
    {
      kind: 'operatorLink',
      id: 'link_1',
      workspaceId: 'ws_1',
      livemode: true,
      permissions: ['*'],
      plan: 'growth',
      senderDefaults: { from: null, replyTo: null },
    },
  ],
  ['session=reader', PRINCIPALS.get(keyOf('live', 'reader')) as Principal],
]);

/** The id that exists. */
export const THING = 'em_000000000000000000000001';

export function startSmallService(options: SmallServiceOptions = {}): SmallService {
  const clock = { now: Date.parse('2026-11-20T12:00:00.500Z'), monotonic: 1_000 };
  const done: string[] = [];
  const logged: SmallService['logged'] = [];
  const observed: ResponseMetrics[] = [];
  const lookedUp: string[] = [];
  const slow = new Gate();
  const log = (fields: object, message: string) => void logged.push({ fields, message });
  const counter = (ms: number) => new LocalCounter(ms, () => clock.monotonic);
  const limits = { perAddress: 0, perKey: 0, ...options.limits };
  const server = listen(
    mount(routes(done, slow), {
      authenticate:
        options.authenticate ??
        (async (key) => {
          lookedUp.push(key);
          return PRINCIPALS.get(key) ?? null;
        }),
      session: (headers) => SESSIONS.get(headers.get('cookie') ?? '') ?? null,
      limiter: new RateLimiter(limits, counter(60_000), counter(1_000)),
      clientAddress: clientAddress(parseTrustedProxies(options.trustProxy ?? '') ?? { hops: 0 }),
      clock: { now: () => clock.now, monotonic: () => clock.monotonic },
      log: { warn: log, error: log },
      baseUrl: 'https://mail.example.com',
      observe: options.observe ?? ((answered) => void observed.push(answered)),
      ...(options.timeouts && { timeouts: options.timeouts }),
      ...(options.bodyBudget && { bodyBudget: options.bodyBudget }),
    }),
    { hostname: '127.0.0.1', port: 0, ...(options.sockets && { sockets: options.sockets }) },
  );
  return {
    url: server.url.origin,
    port: server.port ?? 0,
    clock,
    done,
    logged,
    observed,
    lookedUp,
    release: () => slow.open(),
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** Lets one through each time it is opened, in either order. */
class Gate {
  private readonly waiting: (() => void)[] = [];
  private permits = 0;

  open(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.permits++;
  }

  async pass(): Promise<void> {
    if (this.permits > 0) this.permits--;
    else await new Promise<void>((resolve) => void this.waiting.push(resolve));
  }
}

const Thing = T.Object({ id: T.String() });
const NewThing = T.Object({
  name: T.String({ minLength: 1 }),
  count: T.Optional(T.Integer({ minimum: 1 })),
  to: T.Optional(T.Union([T.String(), T.Array(T.String())])),
  extra: T.Optional(T.Unknown()),
});
const NAMES = ['e', 'd', 'c', 'b', 'a'];

/** The errors and answers of handlers for GET /v1/failing/:how. */
const FAILING: Record<string, () => unknown> = {
  exception: () => {
    throw new TypeError('cannot read "hunter2" of ada@example.com');
  },
  rejection: () => Promise.reject(new Error(`duplicate key value 'hunter2'`)),
  text: () => {
    throw 'hunter2';
  },
  unavailable: () => Promise.reject(new UnavailableError('the pool is full', 'no', 7)),
  circular: () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    return circle;
  },
  bigint: () => ({ id: 1n }),
  never: () => new Promise(() => {}),
};

/** Answers after its caller has hung up. */
const untilUnheard = (done: string[], unheard: HangUpSignal | undefined): Promise<null> =>
  new Promise((resolve) => {
    const signal = unheard?.();
    const note = () => {
      done.push('unheard');
      resolve(null);
    };
    if (signal?.aborted) note();
    else signal?.addEventListener('abort', note);
  });

function routes(done: string[], slow: Gate): readonly Route[] {
  const stored = new Map<string, { fingerprint: string; status: number; body: { id: string } }>();
  return [
    route('GET /v1/things', {
      permission: 'emails:read',
      summary: 'List',
      query: T.Object({ ...pageQuery, order: T.Optional(T.Union([T.Literal('up'), T.Literal('down')])) }),
      response: T.Array(Thing),
      status: 200,
      handle: ({ caller, query }) => {
        const request = { list: 'things', caller, isPosition: () => true, query };
        const from = positionOf(request);
        if (from instanceof Failure) return from;
        const rows = NAMES.filter((name) => from === null || name < from).slice(0, query.limit + 1);
        return pageOf(
          request,
          rows,
          (name) => name,
          (id) => ({ id }),
        );
      },
    }),
    route('GET /v1/things/:id', {
      permission: 'emails:read',
      summary: 'Get',
      params: { id: { prefix: 'em', resource: 'email' } },
      response: Thing,
      status: 200,
      handle: ({ params }) => {
        done.push(`get ${params.id}`);
        return params.id === THING ? { id: params.id } : notFound('email');
      },
    }),
    route('POST /v1/things', {
      permission: 'emails:send',
      summary: 'Create',
      body: NewThing,
      response: Thing,
      status: 201,
      handle: ({ body, claim }) => {
        const earlier = claim && stored.get(claim.key);
        if (claim && earlier) return replayOf(claim, earlier, () => earlier.body);
        done.push(`create ${body.name}`);
        const thing = { id: THING };
        if (claim) stored.set(claim.key, { fingerprint: claim.fingerprint, status: 201, body: thing });
        return thing;
      },
    }),
    route('PATCH /v1/things/:id', {
      permission: 'emails:send',
      summary: 'Change',
      params: { id: { prefix: 'em', resource: 'email' } },
      body: T.Object({ name: T.String() }),
      response: Thing,
      status: 200,
      handle: ({ params }) => (params.id === THING ? { id: params.id } : notFound('email')),
    }),
    route('DELETE /v1/things/:id', {
      permission: 'emails:send',
      summary: 'Delete',
      params: { id: { prefix: 'em', resource: 'email' } },
      response: T.Null(),
      status: 204,
      handle: ({ params }) => {
        if (params.id !== THING) return notFound('email');
        done.push('delete');
        return null;
      },
    }),
    route('POST /v1/things/:id/act', {
      permission: ['emails:send', 'campaigns:write'],
      testMode: 'refused',
      summary: 'Act',
      params: { id: { prefix: 'em', resource: 'email' } },
      response: Thing,
      status: 200,
      handle: ({ params }) => ({ id: params.id }),
    }),
    route('POST /v1/optional', {
      permission: 'any key',
      summary: 'Act with optional fields',
      body: T.Object({ at: T.Optional(T.String({ format: 'date-time' })) }),
      response: T.Object({ at: T.Union([T.String(), T.Null()]) }),
      status: 200,
      handle: ({ body }) => ({ at: body.at ?? null }),
    }),
    route('POST /v1/slow', {
      permission: 'any key',
      summary: 'Wait until released',
      response: Thing,
      status: 200,
      handle: async () => {
        await slow.pass();
        done.push('slow');
        return { id: THING };
      },
    }),
    route('POST /v1/import', {
      permission: 'any key',
      summary: 'Take a file',
      mediaTypes: ['text/csv'],
      body: T.Unsafe<Uint8Array>({ type: 'string' }),
      bodyLimit: 64,
      response: T.Object({ size: T.Integer() }),
      status: 202,
      handle: ({ body }) => ({ size: body.byteLength }),
    }),
    route('POST /v1/preview', {
      permission: 'any key',
      summary: 'Act under a separate limit',
      ipLimitPerMinute: 3,
      response: Thing,
      status: 200,
      handle: () => ({ id: THING }),
    }),
    route('GET /v1/failing/:how', {
      permission: 'any key',
      summary: 'Fail',
      params: { how: { text: 'One of FAILING, or a failure code.' } },
      response: T.Any(),
      status: 200,
      handle: ({ params: { how } }) =>
        FAILING[how]?.() ?? new Failure(how as FailureCode, 'It failed on purpose.'),
    }),
    route('GET /v1/unheard', {
      permission: 'any key',
      summary: 'Wait until the caller has hung up',
      response: T.Null(),
      status: 200,
      handle: ({ unheard }) => untilUnheard(done, unheard),
    }),
    ...(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) =>
      route(`${method} /app/things`, {
        permission: 'emails:read',
        credential: 'session',
        principals: ['key', 'operatorLink'],
        summary: 'Ask with the session of a browser',
        response: T.Object({ kind: T.String(), plan: T.String() }),
        status: 200,
        handle: ({ caller }) => {
          done.push(`${method} by ${caller.kind}`);
          return { kind: caller.kind, plan: caller.plan };
        },
      }),
    ),
    route('GET /app/keys-only', {
      permission: 'any key',
      credential: 'session',
      principals: ['key'],
      summary: 'Take no operator',
      response: Thing,
      status: 200,
      handle: () => ({ id: THING }),
    }),
    route('GET /page', {
      permission: 'public',
      summary: 'Show a page',
      response: T.String(),
      status: 200,
      handle: () =>
        new RawResponse('text/html; charset=utf-8', '<h1>Page</h1>', {
          headers: { 'cache-control': 'max-age=60' },
        }),
    }),
  ];
}
