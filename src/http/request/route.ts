import { type Static, type TArray, type TNull, type TObject, type TSchema, Type } from '@sinclair/typebox';
import type { GivenUp, HangUpSignal } from '../../platform/async/deadline.ts';
import type { IdPrefix } from '../../platform/db/ids.ts';
import type { Failure, FailureCode } from '../../platform/errors/failure.ts';
import type { Permission } from '../auth/permissions.ts';
import type { Principal, PrincipalKind } from '../auth/principal.ts';

/**
 * A client's request to have its POST carried out once: its key and the fingerprint of the request. The
 * engine stores both in the statement that performs the action.
 */
export interface IdempotencyClaim {
  readonly key: string;
  /** One of the things that the call asks for, by its number; the call as a whole when left out. */
  readonly item?: number | undefined;
  /** SHA-256, lower-case hex, over method, path and the parsed body in canonical form. */
  readonly fingerprint: string;
}

/** The argument of a handler: a request that has passed every check that its route states. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly caller: Principal;
  /**
   * The method of the request. A HEAD reaches the handler of GET, and must change nothing (RFC 9110, 9.3.2).
   */
  readonly method: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Null without an Idempotency-Key, and for every method except POST. */
  readonly claim: IdempotencyClaim | null;
  readonly requestId: string;
  readonly headers: Headers;
  /** The address of the client, as it counts for the rate limit. */
  readonly client: string;
  /** Epoch milliseconds at which the request arrived. */
  readonly now: number;
  /** Aborts when the client hangs up; only where the route `waitsMs`. */
  readonly gone?: AbortSignal | undefined;
  readonly unheard?: HangUpSignal | undefined;
  readonly isGivenUp?: GivenUp | undefined;
}

/**
 * The stored reply of an earlier request with the same Idempotency-Key. `body` is the `data` of that reply.
 */
export class Replay {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {}
}

/** One page of a list; `nextCursor` is null on the last one. */
export class Page<Item> {
  constructor(
    readonly data: readonly Item[],
    readonly pagination: { readonly hasMore: boolean; readonly nextCursor: string | null },
  ) {}
}

/** A page whose items are already JSON, so that they are not parsed and serialised again. */
export class WrittenPage<Item> {
  /** The type of the items in the text. */
  declare readonly item: Item;

  constructor(
    /** The items with commas between them. */
    readonly text: string,
    readonly pagination: Page<Item>['pagination'],
  ) {}
}

/** A `data` with the other status that a route states in `otherwise`. */
export class AlternativeReply<Data> {
  constructor(readonly data: Data) {}
}

/**
 * A body that was stored while it arrived, instead of being held: what `receive` of a route makes of it. A
 * request that ends without having kept it discards it.
 */
export abstract class ReceivedBody {
  #isKept = false;

  /** `digest` represents the content in the fingerprint of an Idempotency-Key: a hash of it, or itself. */
  constructor(readonly digest: string | Uint8Array) {}

  /** Hands the responsibility for the stored content to another owner. */
  keep(): void {
    this.#isKept = true;
  }

  /** Removes what was stored, unless it was kept. */
  async release(): Promise<void> {
    if (!this.#isKept) await this.discard();
  }

  protected abstract discard(): Promise<void>;
}

/** The request whose body a route receives in pieces. */
export type UploadCall<Query> = Pick<Call<unknown, Query>, 'caller' | 'query' | 'now'>;

/** A reply that is not JSON in an envelope: a page, an image, a redirect. */
export class RawResponse {
  constructor(
    /** Null when there is no content. */
    readonly contentType: string | null,
    readonly content: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null,
    readonly extra: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {}
}

/** The argument of a public route's handler, which has no caller. */
export type PublicCall<Params = unknown, Query = unknown, Body = unknown> = Omit<
  Call<Params, Query, Body>,
  'caller'
> & {
  readonly caller: null;
};

type CallOf<Who, Params, Query, Body> = Who extends 'public'
  ? PublicCall<Params, Query, Body>
  : Call<Params, Query, Body>;

/** The results that a handler may return: the `data`, or one of the values with a special meaning. */
export type Answer<Data> =
  | Data
  | (Data extends readonly (infer Item)[] ? Page<Item> | WrittenPage<Item> | readonly Item[] : never)
  | AlternativeReply<Data>
  | Failure
  | Replay
  | RawResponse;

/** `any key`: every authenticated caller. `public`: everybody. A list: a caller who holds all of them. */
export type Access = Permission | readonly Permission[] | 'any key' | 'public';

/**
 * The proof of identity that a route takes: an API key in the Authorization header, or the session cookie of
 * a browser.
 */
export type Credential = 'key' | 'session';

/**
 * A path parameter. With a prefix and a resource it is an id of that kind, and any other text is answered
 * like a missing resource. With `text`, its description, it is free text that the handler checks.
 */
export type ParamSpec = IdParam | { readonly text: string };

/** An id and the name of its resource in the message of the 404: `email`, `API key`. */
export interface IdParam {
  readonly prefix: IdPrefix;
  readonly resource: string;
  /** The shape of an alias, which can take the place of the id. */
  readonly alias?: RegExp;
}

/** An act as the audit log knows it. */
export interface AuditSpec {
  /** The kind of target and what happened to it: `member.changed`. */
  readonly action: string;
  /** Further details of the request for the log, without secrets. */
  details?(call: Call): Readonly<Record<string, unknown>>;
  /** True where the entry is all that the request does: it fails where the entry cannot be written. */
  readonly isRequired?: true;
}

/** Everything that the server, the documentation and the tests need to know about one endpoint. */
export interface RouteSpec<
  Who extends Access = Access,
  Params extends Record<string, ParamSpec> = Record<string, ParamSpec>,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Response extends TSchema = TSchema,
> {
  /** The `operationId` of the documentation, such as `sendEmail`. Every documented route has one. */
  readonly name?: string;
  readonly permission: Who;
  /**
   * `key` by default. Sessions are never accepted under /v1, so that no page of another site can use a cookie
   * there.
   */
  readonly credential?: Credential;
  /**
   * True where the commit behind the answer judges its caller (`Recollection`), so that a key which was found
   * lately needs no look-up first. A handler that does not confirm it only makes the look-up come later.
   */
  readonly judgesCaller?: boolean;
  /** The environment that a route with a session works in, whatever the session was opened for. */
  readonly environment?: 'live' | 'test';
  /** The kinds of principal that may call; API keys and members by default. */
  readonly principals?: readonly PrincipalKind[];
  /**
   * True for a path that exists only for clients who accept HTML, such as browsers; for all others it is
   * unknown.
   */
  readonly onlyForBrowsers?: boolean;
  /**
   * `refused`: test keys get 403 TEST_MODE_NOT_SUPPORTED, because the endpoint reaches real recipients or
   * tells of the live environment. `members`: people may call it while they look at the test environment.
   */
  readonly testMode?: 'refused' | 'members';
  /**
   * True for a path that exists only where its parameters are ids; with other text it is unknown, as
   * `/app/other` is.
   */
  readonly onlyForIds?: boolean;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  /** Without a schema the endpoint has no fields, and an empty body or `{}` is accepted. */
  readonly body?: Body;
  /** The schema of `data`; without one there is none to answer. */
  readonly response?: Response;
  /** 200 by default, and 204 where there is nothing to answer. */
  readonly status?: 200 | 201 | 202 | 204;
  /**
   * The status of an answer that is `AlternativeReply`, with the same `data`: 200 where nothing had to be
   * created.
   */
  readonly otherwise?: 200;
  /** The media type of an answer that is no JSON, such as `text/csv`; `response` describes its text. */
  readonly responseType?: string;
  /** Bytes; 1 MiB by default. */
  readonly bodyLimit?: number;
  /** `application/json` by default. The handler receives other types as bytes in `body`. */
  readonly mediaTypes?: readonly string[];
  /**
   * Stores a body of another type as its pieces arrive; the query was checked before. An empty body has no
   * piece. What it returns is the `body` of the call. @throws BrokenBody, which the pipeline answers
   */
  receive?(
    pieces: AsyncIterable<Uint8Array>,
    receiving: UploadCall<Static<Query>>,
  ): Promise<(Static<Body> & ReceivedBody) | Failure>;
  /**
   * The name of this act in the audit log, such as `apiKey.created`; only successful acts of people and keys
   * are recorded.
   */
  readonly audit?: AuditSpec;
  /** Milliseconds that the handler may wait for something to happen, besides the time for its own work. */
  readonly waitsMs?: number;
  /**
   * Changes the JSON of a body and counts its values, for clients that write one in a longer form than its
   * own; null where the values are too many. Without it they are counted as they are.
   */
  readonly shortened?: (json: Uint8Array) => Uint8Array | null;
  /**
   * True for a body that the handler gets as the bytes that were sent, whatever its type, since its sender
   * has signed them.
   */
  readonly rawBody?: boolean;
  /** True where query and body are not looked at, since the answer is the same whatever they say. */
  readonly takesAnything?: boolean;
  /** Requests a minute that this endpoint allows each client address, counted apart from all others. */
  readonly ipLimitPerMinute?: number;
  /**
   * The setting of that limit, where it has one: 0 turns it off, and it applies even where addresses have no
   * other limit.
   */
  readonly ipLimitSetting?: number | undefined;
  /** The headers that only this endpoint reads, besides those of every request. */
  readonly headers?: readonly OwnHeader[];
  /** The error codes of this endpoint's own rules, besides those that follow from the other members. */
  readonly failures?: readonly FailureCode[];
  /**
   * The body of its refusals, for an endpoint that clients of another interface call; the envelope of errors
   * otherwise.
   */
  readonly errorBody?: (failure: Failure) => unknown;
  /** A valid example for the documentation. */
  readonly example?: { readonly body?: Static<Body>; readonly response?: Static<Response> };
  handle(
    call: CallOf<Who, { readonly [Name in keyof Params]: string }, Static<Query>, Static<Body>>,
  ): Answer<Static<Response>> | Promise<Answer<Static<Response>>>;
}

/** A header that some endpoints read: the documentation describes each. */
export type OwnHeader = 'x-svc-test-clock' | 'x-svc-simulate';

/** The prefix of the endpoints that answer the dashboard. */
export const DASHBOARD_API = '/app/api';

/**
 * The same endpoint for the session of a member: `/v1/emails` is `/app/api/live/emails` and
 * `/app/api/test/emails`, with the same checks in the same order. One table of routes serves both.
 */
export const forMembers = (given: Route): readonly Route[] =>
  given.permission === 'public' || !given.path.startsWith('/v1/')
    ? []
    : (['live', 'test'] as const).map((environment) => ({
        ...given,
        path: `${DASHBOARD_API}/${environment}${given.path.slice('/v1'.length)}`,
        credential: 'session',
        principals: ['member'],
        environment,
      }));

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** A route without the types of its handler, so that routes of all kinds fit into one list. */
export type Route = Omit<RouteSpec, 'handle' | 'receive'> &
  Required<Pick<RouteSpec, 'response' | 'status'>> & {
    readonly method: Method;
    /** `/v1/emails/:id` */
    readonly path: string;
    handle(call: Call | PublicCall): unknown;
    receive?(
      pieces: AsyncIterable<Uint8Array>,
      receiving: UploadCall<unknown>,
    ): Promise<ReceivedBody | Failure>;
  };

/**
 * States an endpoint, such as `GET /v1/emails/:id`: checks the handler's types against the schemas, and adds
 * what is usual. `mount` serves it.
 */
export function route<
  const Who extends Access,
  const Params extends Record<string, ParamSpec>,
  Query extends TObject,
  Body extends TSchema,
  Response extends TSchema = TNull,
>(operation: `${Method} ${string}`, spec: RouteSpec<Who, Params, Query, Body, Response>): Route {
  const [method, path] = operation.split(' ');
  const { response = Type.Null(), status = spec.response ? 200 : 204 } = spec;
  return { ...spec, method, path, response, status } as unknown as Route;
}

/** True when a route answers with a list. */
export const isList = (response: TSchema): response is TArray => response.type === 'array';
