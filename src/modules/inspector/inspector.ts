import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../engine/clock-source.ts';
import type { Kind } from '../../engine/kind.ts';
import type { AdmissionDeps } from '../../http/admission.ts';
import type { SocketDoor } from '../../http/listen.ts';
import type { Explain } from './actors.ts';
import { Census } from './census.ts';
import { inspectorDoor } from './door.ts';
import { type LookedAt, Lookout } from './lookout.ts';
import type { InspectorDeps } from './routes.ts';
import { type SessionScope, Sessions } from './session.ts';
import { requireSight } from './sight.ts';
import { ticketTaker } from './tickets.ts';
import { type FindKey, Visits } from './visits.ts';

/** What the live view is built from. */
export interface InspectorParts extends Omit<AdmissionDeps, 'session'> {
  readonly engine: LookedAt & { readonly kinds: readonly Kind[] };
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly secretKey: string;
  /** Where browsers reach the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly version: string;
  readonly explain: Readonly<Record<string, Explain>>;
  readonly findKey: FindKey;
}

/** The live view, ready to be looked at. */
export interface Inspector {
  /** For `inspectorRoutes`. */
  readonly deps: InspectorDeps;
  readonly sockets: SocketDoor;
  /** Finds who calls with a session cookie. */
  readonly session: NonNullable<AdmissionDeps['session']>;
  /** A link that opens the live view once, without a key. */
  link(scope: Omit<SessionScope, 'keyId'>): string;
  stop(): void;
}

/** Puts the live view together. Nothing of it runs, and no commit costs anything, until somebody looks. */
export function createInspector(parts: InspectorParts): Inspector {
  const { engine, database, clock, log, baseUrl, version, explain, authenticate, limiter, clientAddress } =
    parts;
  requireSight(engine.kinds);
  const now = () => clock.now();
  const isSecure = baseUrl.startsWith('https:');
  const sessions = new Sessions(parts.secretKey, now, isSecure, ticketTaker(database, now));
  const visits = new Visits(sessions, authenticate, parts.findKey, now);
  const census = new Census(database, clock, log, engine.kinds);
  const lookout = new Lookout(engine, census, now);
  const sockets = inspectorDoor({
    engine,
    database,
    now,
    visits,
    lookout,
    limiter,
    clientAddress,
    log,
    baseUrl,
  });
  return {
    deps: { database, kinds: engine.kinds, visits, version, explain },
    sockets,
    session: visits.caller,
    // Behind the mark: what stands there is never sent, logged or handed on by a browser.
    link: (scope) => `${baseUrl}/inspector#open=${sessions.ticket({ ...scope, keyId: null })}`,
    stop: () => lookout.stop(),
  };
}
