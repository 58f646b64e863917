import type { Logger } from 'pino';
import { OneTimeTokens } from '../../auth/one-time-tokens.ts';
import type { Sessions } from '../../auth/sessions.ts';
import type { Database } from '../../db/database.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Scope } from '../../engine/result.ts';
import type { AdmissionDeps } from '../../http/admission.ts';
import type { SocketUpgrade } from '../../http/listen.ts';
import type { Clock } from '../../time/clock.ts';
import { LiveFeed } from './live-feed.ts';
import type { InspectedKind, InspectorDeps } from './routes.ts';
import { StateCounts } from './state-counts.ts';
import { sightsOf } from './visibility.ts';
import { InspectorSessions, type Ticket } from './visits.ts';
import { inspectorUpgrade } from './websocket-upgrade.ts';

/** What the live view is built from. */
export interface InspectorParts extends Omit<AdmissionDeps, 'session'> {
  readonly engine: Engine;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly kinds: readonly InspectedKind[];
  readonly sessions: Sessions;
  readonly version: string;
}

/** The live view, ready to be looked at. */
export interface Inspector {
  /** For `inspectorRoutes`. */
  readonly deps: InspectorDeps;
  readonly sockets: SocketUpgrade;
  /** A link that opens the live view once, without a key. */
  link(scope: Scope): Promise<string>;
  stop(): void;
}

/** Puts the live view together. Nothing of it runs, and no commit costs anything, until somebody looks. */
export function createInspector(parts: InspectorParts): Inspector {
  const { engine, kinds, database, clock, log, baseUrl, version, sessions } = parts;
  const { authenticate, limiter, clientAddress } = parts;
  const now = () => clock.now();
  const tickets = new OneTimeTokens<Ticket>(database, 'live view', now);
  const visits = new InspectorSessions(sessions, tickets, authenticate, sightsOf(kinds), now);
  const stateCounts = new StateCounts(
    database,
    clock,
    log,
    kinds.map(({ kind }) => kind),
  );
  const liveFeed = new LiveFeed(engine, stateCounts, now);
  const sockets = inspectorUpgrade({
    engine,
    database,
    now,
    visits,
    liveFeed,
    limiter,
    clientAddress,
    log,
    baseUrl,
  });
  return {
    deps: { database, kinds, visits, version },
    sockets,
    // Behind the mark: what stands there is never sent, logged or handed on by a browser.
    link: async ({ workspaceId, livemode }) => {
      const subject = { kind: 'operatorLink', id: crypto.randomUUID(), workspaceId, livemode } as const;
      return `${baseUrl}/inspector#open=${await visits.link(subject)}`;
    },
    stop: () => liveFeed.stop(),
  };
}
