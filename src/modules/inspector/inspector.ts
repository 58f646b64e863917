import type { Logger } from 'pino';
import { OneTimeTokens } from '../../auth/one-time-tokens.ts';
import { SessionCookie } from '../../auth/session-cookie.ts';
import { type FindKey, type FindPlan, Sessions } from '../../auth/sessions.ts';
import type { Database } from '../../db/database.ts';
import type { Signer } from '../../db/sign.ts';
import type { Clock } from '../../engine/clock-source.ts';
import type { Kind } from '../../engine/kind.ts';
import type { Scope } from '../../engine/told.ts';
import type { AdmissionDeps } from '../../http/admission.ts';
import type { SocketDoor } from '../../http/listen.ts';
import type { Explain } from './actors.ts';
import { Census } from './census.ts';
import { inspectorDoor } from './door.ts';
import { type LookedAt, Lookout } from './lookout.ts';
import type { InspectorDeps } from './routes.ts';
import { requireSight } from './sight.ts';
import { type Ticket, Visits } from './visits.ts';

/** What the live view is built from. */
export interface InspectorParts extends Omit<AdmissionDeps, 'session'> {
  readonly engine: LookedAt & { readonly kinds: readonly Kind[] };
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signer: Signer;
  readonly version: string;
  readonly explain: Readonly<Record<string, Explain>>;
  readonly findKey: FindKey;
  readonly findPlan: FindPlan;
}

/** The live view, ready to be looked at. */
export interface Inspector {
  /** For `inspectorRoutes`. */
  readonly deps: InspectorDeps;
  readonly sockets: SocketDoor;
  /** Finds who calls with a session cookie. */
  readonly session: NonNullable<AdmissionDeps['session']>;
  /** A link that opens the live view once, without a key. */
  link(scope: Scope): Promise<string>;
  stop(): void;
}

/** Puts the live view together. Nothing of it runs, and no commit costs anything, until somebody looks. */
export function createInspector(parts: InspectorParts): Inspector {
  const { engine, database, clock, log, baseUrl, version, explain, authenticate, limiter, clientAddress } =
    parts;
  requireSight(engine.kinds);
  const now = () => clock.now();
  const isSecure = baseUrl.startsWith('https:');
  const cookie = new SessionCookie(parts.signer, now, isSecure);
  const sessions = new Sessions(cookie, parts.findKey, parts.findPlan, now);
  const tickets = new OneTimeTokens<Ticket>(database, 'live view', now);
  const visits = new Visits(sessions, tickets, authenticate, now);
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
    session: sessions.principal,
    // Behind the mark: what stands there is never sent, logged or handed on by a browser.
    link: async ({ workspaceId, livemode }) => {
      const subject = { kind: 'operatorLink', id: crypto.randomUUID(), workspaceId, livemode } as const;
      return `${baseUrl}/inspector#open=${await visits.link(subject)}`;
    },
    stop: () => lookout.stop(),
  };
}
