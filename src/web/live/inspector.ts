import type { Logger } from 'pino';
import type { Engine } from '../../engine/engine.ts';
import type { Scope } from '../../engine/machine/result.ts';
import type { KnownInstances } from '../../engine/roster.ts';
import { OneTimeTokens } from '../../http/auth/passwords/one-time-tokens.ts';
import type { Sessions } from '../../http/auth/sessions/sessions.ts';
import type { SocketUpgrade } from '../../http/listen/listen.ts';
import type { ChangeNote } from '../../http/module.ts';
import type { AdmissionDeps } from '../../http/request/admission.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { LiveExchange } from './exchange/live-exchange.ts';
import { PageFeed, type ShownKind } from './feed/page-feed.ts';
import { InspectorSessions, type Ticket } from './inspector-sessions.ts';
import { pageSockets } from './page-sockets.ts';
import type { InspectedKind, InspectorDeps } from './routes.ts';
import { StateCounts } from './state-counts.ts';
import { visibilityAmong } from './visibility.ts';

export interface InspectorParts extends Omit<AdmissionDeps, 'session'> {
  readonly engine: Engine;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly kinds: readonly (InspectedKind & ShownKind)[];
  readonly sessions: Sessions;
  readonly version: string;
  readonly roster: KnownInstances;
}

/** The server side of open pages: what has changed, and how the machines move. */
export interface Inspector {
  /** The dependencies of `inspectorRoutes`. */
  readonly deps: InspectorDeps;
  readonly sockets: SocketUpgrade;
  /** Notes a change outside the engine's commits, for the pages that show the resource. */
  note(noted: ChangeNote): void;
  /** Creates a link that opens the live view once, without a key. */
  link(scope: Scope): Promise<string>;
  /** Starts to follow the other instances. */
  start(): void;
  stop(): Promise<void>;
}

/** Builds the live view. Commits cost nothing until a viewer is connected, here or to another instance. */
export function createInspector(parts: InspectorParts): Inspector {
  const { engine, kinds, database, clock, log, baseUrl, version, sessions } = parts;
  const { authenticate, limiter, clientAddress } = parts;
  const now = () => clock.now();
  const visibilityOf = visibilityAmong(kinds);
  const tickets = new OneTimeTokens<Ticket>(database, 'live view', now);
  const inspectorSessions = new InspectorSessions(sessions, tickets, authenticate, visibilityOf, now);
  const stateCounts = new StateCounts(
    database,
    clock,
    log,
    kinds.map(({ kind }) => kind),
  );
  const others = new LiveExchange({
    database,
    engine,
    logger: log,
    roster: parts.roster,
    now,
    monotonic: () => clock.monotonic(),
  });
  const feed = new PageFeed({
    engine,
    kinds,
    stateCounts,
    others,
    now,
    hasOthers: database.kind === 'postgres',
  });
  const sockets = pageSockets({
    engine,
    database,
    now,
    sessions: inspectorSessions,
    sessionEnds: sessions.ends,
    feed,
    memberSessions: sessions,
    visibilityOf,
    monotonic: () => clock.monotonic(),
    others,
    limiter,
    clientAddress,
    log,
    baseUrl,
  });
  return {
    deps: { database, kinds, inspectorSessions, version },
    sockets,
    note: (noted) => feed.note(noted),
    // The ticket is in the fragment, which a browser neither sends nor passes on in Referer, so that it gets
    // into no log.
    link: async ({ workspaceId, livemode }) => {
      const subject = { kind: 'operatorLink', id: crypto.randomUUID(), workspaceId, livemode } as const;
      return `${baseUrl}/inspector#open=${await inspectorSessions.link(subject)}`;
    },
    start: () => others.start(),
    async stop() {
      feed.stop();
      await others.stop();
    },
  };
}
