import { Type } from '@sinclair/typebox';
import { eq } from 'drizzle-orm';
import type { Kind } from '../../engine/machine/kind.ts';
import type { Explain, LabelSql, OwnDefinitions } from '../../engine/presentation.ts';
import type { Principal, PrincipalKind } from '../../http/auth/principal.ts';
import { DASHBOARD_API, RawResponse, type Route, route } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { actorLife, actorPage } from './actors.ts';
import { type InspectorSessions, NEEDED } from './inspector-sessions.ts';
import { machineOf } from './machines.ts';
import type { ActorLife, ActorPage, Machine, Session } from './model.ts';
import { type VisibleKind, visibilityAmong } from './visibility.ts';

/** A kind that the live view shows. */
export interface InspectedKind extends VisibleKind {
  readonly kind: Kind;
  /** Explains the actors of the kind; without it the descriptions of the machine do. */
  readonly explain?: Explain;
  /** Without it, an actor is known by its id alone. */
  readonly label?: LabelSql;
  /** The machines of its definitions, where it has any. */
  readonly definitions?: OwnDefinitions;
}

export interface InspectorDeps {
  readonly database: Database;
  readonly kinds: readonly InspectedKind[];
  readonly inspectorSessions: InspectorSessions;
  readonly version: string;
}

const SessionBody = Type.Object({
  key: Type.Optional(Type.String({ maxLength: 100 })),
  ticket: Type.Optional(Type.String({ maxLength: 1_000 })),
});

/**
 * Bytes of the body that opens a session. A key and a ticket are far shorter, and the sender is not
 * authenticated yet.
 */
const SESSION_BODY_LIMIT = 4_096;

const ActorQuery = Type.Object({
  kind: Type.String({ maxLength: 60 }),
  state: Type.Optional(Type.String({ maxLength: 60 })),
  id: Type.Optional(Type.String({ maxLength: 60, pattern: '^[a-z0-9_]*$' })),
  after: Type.Optional(Type.String({ maxLength: 60, pattern: '^[a-z0-9_]+$' })),
});

const SESSION_OVER = new Failure('UNAUTHORIZED', 'The session has ended.');
const ONE_OF_BOTH = invalidAt('/body', 'Send either a key or a ticket.');

/** The credential of the page's endpoints: the session cookie of its user. */
const BY_SESSION = {
  permission: NEEDED,
  credential: 'session',
  principals: ['key', 'member', 'operatorLink'],
} as const;

/** The access to the machines: a session, and the environment of the session or of the address. */
interface ViewAccess {
  readonly permission: typeof NEEDED;
  readonly credential: 'session';
  readonly principals: readonly PrincipalKind[];
  readonly environment?: 'live' | 'test';
}

/**
 * The schema of an answer for this page alone. TypeScript describes it (model.ts), and no document lists it.
 */
const of = <T>() => Type.Unsafe<T>({});

const ended = (cookie: string, body: object): RawResponse =>
  new RawResponse('application/json', JSON.stringify({ data: body }), {
    headers: { 'set-cookie': cookie, 'cache-control': 'no-store' },
  });

/** The endpoints of the live view, all under its own prefix. */
export function inspectorRoutes({
  database,
  kinds: inspected,
  inspectorSessions,
  version,
}: InspectorDeps): readonly Route[] {
  const kinds = inspected.map(({ kind }) => kind);
  const visibilityOf = visibilityAmong(inspected);
  const presentation = new Map(
    inspected.map(({ kind, explain, label, definitions }) => [kind.name, { explain, label, definitions }]),
  );
  const machines = kinds.map(machineOf);
  const visibleTo = ({ permissions }: Principal) => {
    const visibility = visibilityOf(permissions);
    return kinds.filter(({ name }) => visibility.has(name));
  };
  /** The views of the machines, for the given access. */
  const views = (base: string, access: ViewAccess): readonly Route[] => [
    route(`GET ${base}/machines`, {
      ...access,
      summary: 'List the machines that the session may see, with their definitions',
      response: of<readonly Machine[]>(),
      handle: ({ caller }) => {
        const visibility = visibilityOf(caller.permissions);
        return machines.filter(({ kind }) => visibility.has(kind));
      },
    }),
    route(`GET ${base}/actors`, {
      ...access,
      summary: 'List actors of one kind, newest first, by state or by the beginning of an id',
      query: ActorQuery,
      response: of<ActorPage>(),
      handle: ({ caller, query }) => {
        const kind = visibleTo(caller).find(({ name }) => name === query.kind);
        const states = machines.find((machine) => machine.kind === query.kind)?.drawing.states ?? [];
        if (!kind) return notFound('machine');
        // The states of definitions are their authors' own.
        const isKnown =
          query.state === undefined ||
          kind.hasDefinitions === true ||
          states.some(({ name }) => name === query.state);
        if (!isKnown) return notFound('state');
        const prefix = `${kind.idPrefix}_`;
        const idPrefix = query.id?.startsWith(prefix) ? query.id : `${prefix}${query.id ?? ''}`;
        const { label } = presentation.get(kind.name) ?? {};
        const wanted = { state: query.state ?? null, idPrefix, after: query.after ?? null };
        return actorPage(database, kind, caller, wanted, label);
      },
    }),
    route(`GET ${base}/actors/:id`, {
      ...access,
      params: { id: { text: 'The id of an actor of any kind' } },
      summary: 'Get an actor, its life so far, and the events it waits for',
      response: of<ActorLife>(),
      handle: async ({ caller, params, now }) => {
        const kind = visibleTo(caller).find(({ idPrefix }) => params.id.startsWith(`${idPrefix}_`));
        if (!kind) return notFound('actor');
        const life = await actorLife(database, kind, caller, params.id, {
          ...presentation.get(kind.name),
          now,
        });
        return life ?? notFound('actor');
      },
    }),
  ];
  return [
    route('POST /inspector/api/session', {
      permission: 'public',
      ipLimitPerMinute: 30,
      bodyLimit: SESSION_BODY_LIMIT,
      summary: 'Exchange an API key with emails:read, or the ticket of a printed link, for a session cookie',
      body: SessionBody,
      response: of<object>(),
      failures: ['UNAUTHORIZED', 'FORBIDDEN'],
      handle: async ({ body, headers, client }) => {
        if ((body.key === undefined) === (body.ticket === undefined)) return ONE_OF_BOTH;
        const cookie = await inspectorSessions.begin(body, headers, client);
        return cookie instanceof Failure ? cookie : ended(cookie, {});
      },
    }),
    route('DELETE /inspector/api/session', {
      permission: 'public',
      bodyLimit: SESSION_BODY_LIMIT,
      summary: 'End the session',
      response: of<object>(),
      handle: async ({ headers }) => ended(await inspectorSessions.end(headers), {}),
    }),
    route('GET /inspector/api/session', {
      ...BY_SESSION,
      summary: 'Get the access of the session',
      response: of<Session>(),
      handle: async ({ caller: { kind, workspaceId, livemode }, headers }) => {
        const [row] = await database.read((orm) =>
          orm.select({ name: workspaces.name }).from(workspaces).where(eq(workspaces.id, workspaceId)),
        );
        return {
          isMember: kind === 'member',
          workspaceId,
          workspaceName: row?.name ?? workspaceId,
          livemode,
          expiresAt: new Date((await inspectorSessions.endOf(headers)) ?? 0).toISOString(),
          version,
        };
      },
    }),
    route('POST /inspector/api/tickets', {
      ...BY_SESSION,
      summary: 'Get a ticket that opens /inspect?ticket=… once, for tools that cannot send headers',
      response: of<{ readonly ticket: string }>(),
      bodyLimit: SESSION_BODY_LIMIT,
      status: 201,
      handle: async ({ headers }) => {
        const ticket = await inspectorSessions.ticketFor(headers);
        return ticket === null ? SESSION_OVER : { ticket };
      },
    }),
    ...views('/inspector/api', BY_SESSION),
    // The same for a page of the application, which is in one environment by its address.
    ...(['live', 'test'] as const).flatMap((environment) =>
      views(`${DASHBOARD_API}/${environment}`, { ...BY_SESSION, principals: ['member'], environment }),
    ),
  ];
}
