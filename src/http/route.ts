import type { Static, TArray, TObject, TSchema } from '@sinclair/typebox';
import type { Permission } from '../auth/permissions.ts';
import type { Principal, PrincipalKind } from '../auth/principal.ts';
import type { IdPrefix } from '../db/ids.ts';
import type { Failure, FailureCode } from './failure.ts';

/**
 * A client's claim to have its POST done once: the key it chose and what it asked for. Passed on to the engine, which
 * writes it in the statement that performs the action.
 */
export interface IdempotencyClaim {
  readonly key: string;
  /** One of the things that the call asks for, by its number; the call as a whole when left out. */
  readonly item?: number | undefined;
  /** SHA-256, lower-case hex, over method, path and the parsed body in canonical form. */
  readonly fingerprint: string;
}

/** What a handler is given: a request that has passed every check a route can state. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly caller: Principal;
  /** As it was asked: a HEAD reaches the handler of GET, and must change nothing (RFC 9110, 9.3.2). */
  readonly method: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Null where the client sent no Idempotency-Key, and on every method but POST. */
  readonly claim: IdempotencyClaim | null;
  readonly requestId: string;
  readonly headers: Headers;
  /** Epoch milliseconds at which the request arrived. */
  readonly now: number;
}

/** The stored reply of an earlier request with the same Idempotency-Key. `body` is what its handler had answered (the `data`). */
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

/** A reply that is not JSON in an envelope: a page, an image, a redirect. */
export class RawResponse {
  constructor(
    /** Null where there is no content. */
    readonly contentType: string | null,
    readonly content: string | Uint8Array<ArrayBuffer> | null,
    readonly extra: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {}
}

/** What the handler of a public route is given: nobody is known to call. */
export type PublicCall<Params = unknown, Query = unknown, Body = unknown> = Omit<
  Call<Params, Query, Body>,
  'caller'
> & {
  readonly caller: null;
};

type CallOf<Who, Params, Query, Body> = Who extends 'public'
  ? PublicCall<Params, Query, Body>
  : Call<Params, Query, Body>;

/** What a handler may answer with: the `data`, or one of the values that mean something else. */
export type Answer<Data> =
  | Data
  | (Data extends readonly (infer Item)[] ? Page<Item> | readonly Item[] : never)
  | Failure
  | Replay
  | RawResponse;

/** `any key`: authenticated, nothing more. `public`: nobody need be known. A list: every one of them is needed. */
export type Access = Permission | readonly Permission[] | 'any key' | 'public';

/** How callers prove who they are: an API key in the Authorization header, or the cookie of a browser's session. */
export type Credential = 'key' | 'session';

/**
 * A path parameter. A prefix and a resource: an id of that kind, and anything else is the 404 of a missing one.
 * `{ text }`: anything, described by the sentence, that the handler judges.
 */
export type ParamSpec = IdParam | { readonly text: string };

/** An id, and what it names as a client is told when there is no such thing: `email`, `API key`. */
export interface IdParam {
  readonly prefix: IdPrefix;
  readonly resource: string;
}

/** One endpoint: everything about it that the server, the documentation and the tests need to know. */
export interface RouteSpec<
  Who extends Access = Access,
  Params extends Record<string, ParamSpec> = Record<string, ParamSpec>,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Response extends TSchema = TSchema,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** `/v1/emails/:id` */
  readonly path: string;
  /** What clients call it, such as `sendEmail`: the operation's id in the documentation, which every documented route has. */
  readonly name?: string;
  readonly permission: Who;
  /** `key` unless stated. A session is never taken under /v1: no page of another site can ask anything there. */
  readonly credential?: Credential;
  /** Who may call; API keys and members unless stated. */
  readonly principals?: readonly PrincipalKind[];
  /** The path exists for those who ask for HTML, as browsers do when somebody goes there; for all others it is unknown. */
  readonly onlyForBrowsers?: boolean;
  /** `refused`: test keys get 403 TEST_MODE_NOT_SUPPORTED, since the endpoint reaches real recipients. */
  readonly testMode?: 'refused';
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  /** Absent: the endpoint has no fields, and an empty body or `{}` is accepted. */
  readonly body?: Body;
  /** Of `data`; not used with status 204. */
  readonly response: Response;
  readonly status: 200 | 201 | 202 | 204;
  /** Bytes; 1 MiB unless stated. */
  readonly bodyLimit?: number;
  /** `application/json` unless stated. Other types reach the handler as bytes in `body`. */
  readonly mediaTypes?: readonly string[];
  /** Requests a minute and client address that this endpoint allows, counted apart from all others. */
  readonly ipLimitPerMinute?: number;
  /** The codes that this endpoint's own rules can answer with, besides those that follow from what is stated here. */
  readonly failures?: readonly FailureCode[];
  /** A true example for the documentation. */
  readonly example?: { readonly body?: Static<Body>; readonly response?: Static<Response> };
  handle(
    call: CallOf<Who, { readonly [Name in keyof Params]: string }, Static<Query>, Static<Body>>,
  ): Answer<Static<Response>> | Promise<Answer<Static<Response>>>;
}

/** A route whose types have been checked and may now lie in a list with others. */
export type Route = Omit<RouteSpec, 'handle'> & {
  handle(call: Call | PublicCall): unknown;
};

/** States an endpoint. It only keeps the types of schemas and handler together; `mount` gives it life. */
export function route<
  const Who extends Access,
  const Params extends Record<string, ParamSpec>,
  Query extends TObject,
  Body extends TSchema,
  Response extends TSchema,
>(spec: RouteSpec<Who, Params, Query, Body, Response>): Route {
  return spec as unknown as Route;
}

/** Whether a route answers with a list. */
export const isList = (response: TSchema): response is TArray => response.type === 'array';
