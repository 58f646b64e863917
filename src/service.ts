import { actRecorder } from './accounts/audit-log/commands.ts';
import { connectModules } from './connect-modules.ts';
import type { Duty } from './engine/duties/duty.ts';
import { readLastRun } from './engine/duties/last-run.ts';
import { type Schedule, startDuties } from './engine/duties/schedule.ts';
import { secretKeyWatch } from './engine/duties/secret-key-watch.ts';
import { serviceDuties } from './engine/duties/service-duties.ts';
import { Engine, type EngineParts } from './engine/engine.ts';
import { shareOf } from './engine/machine/share.ts';
import { hearOthers } from './engine/news.ts';
import { Presence } from './engine/presence.ts';
import { Roster } from './engine/roster.ts';
import type { Sessions } from './http/auth/sessions/sessions.ts';
import type { CertificateKeeper } from './http/certificates/keeper.ts';
import type { SocketUpgrade } from './http/listen/listen.ts';
import { isOwn, withoutRequests } from './http/request/elsewhere.ts';
import { type App, mount } from './http/request/mount.ts';
import type { HttpDeps, ResponseMetrics } from './http/request/pipeline.ts';
import { BODY_HOLDERS, MODULE_KINDS, openModules, withOthers } from './modules.ts';
import { leaveWork, wakeTimers } from './platform/config/roles.ts';
import type { ServedKeys } from './platform/config/served-keys.ts';
import type { WrongSecretKey } from './platform/db/canary.ts';
import type { Database } from './platform/db/database.ts';
import type { EngineEnded, Engine as Statements } from './platform/db/embedded/guarded-engine.ts';
import type { Clock } from './platform/time/clock.ts';
import { openParts, type ServiceSource } from './service-parts.ts';
import { changesBy } from './web/live/feed/changes-by-request.ts';
import type { Inspector } from './web/live/inspector.ts';

/** The configuration of a service, and what tests change about it. */
export interface ServiceParts extends ServiceSource {
  /** The number of actors kept in memory; 0 reads each one from its row before each event (tests). */
  readonly keptActors?: number;
  /** Further duties, besides those that every service has (tests). */
  readonly duties?: readonly Duty[];
}

/** A service that is ready to answer. */
export interface Service {
  readonly clock: Clock;
  readonly database: Database;
  /** The runner of statements in an embedded database, for the control socket; null with a server. */
  readonly statements: Statements | null;
  readonly engine: Engine;
  readonly app: App;
  readonly inspector: Inspector;
  /** The certificate of HTTPS_PORT; null without that port. */
  readonly certificates: CertificateKeeper | null;
  /** The keys that secrets are sealed with. */
  readonly secretKeys: ServedKeys;
  /** Resolves once the database is used with a key that this service does not have: it cannot go on then. */
  readonly superseded: Promise<WrongSecretKey>;
  /** Resolves when the embedded database has ended by itself: nothing works any more until another start. */
  readonly databaseEnded: Promise<EngineEnded>;
  /** Every WebSocket of the service. */
  readonly sockets: SocketUpgrade;
  readonly duties: readonly Duty[];
  /** Finds the principal behind the cookie of a browser. */
  readonly sessions: Sessions;
  /** The ports of the listeners besides HTTP; null for one that is not configured. */
  readonly ports: Readonly<Record<string, number | null>>;
  /** Has `GET /ready` answer 503 from now on. */
  drain(): void;
  /** Starts the engine and the duties, and opens the other listeners. Rejects when a port is taken. */
  start(): Promise<void>;
  /** Stops all background work; requests are still answered. Resolves once the work under way has ended. */
  windDown(): Promise<void>;
  /** Answers the requests that wait for something to happen, so that a stop need not wait for them. */
  endWaits(): void;
  /** Finishes what is in flight and closes the database. */
  stop(): Promise<void>;
}

/** Opens the database and connects the modules. No background work runs before `start`. */
export async function openService({ keptActors, ...source }: ServiceParts): Promise<Service> {
  const { parts, engine: statements, ended: databaseEnded, close } = await openParts(source);
  const { database, shards, clock, logger, metrics, admission, sessions } = parts;
  const modules = openModules(parts);
  const { roles } = parts.config;
  const byKind = new Map(
    MODULE_KINDS.map(({ kind, carriedOutBy }) => [kind.name, carriedOutBy ?? 'engine'] as const),
  );
  const registrations = Object.values(modules).flatMap((module) => module.registrations ?? []);
  const kinds = registrations.map(withOthers).map((registration) => ({
    ...registration,
    share: shareOf(roles, byKind.get(registration.kind.name) ?? 'engine', registration.kind),
  }));
  const engineParts: EngineParts = {
    database,
    shards,
    clock,
    logger,
    kinds,
    epoch: () => presence.epoch,
    onLeftToOthers: () => roster.news.tell('work'),
    ...(keptActors === undefined ? {} : { keptActors }),
    callerWaitsMs: source.timeouts?.workMs,
  };
  const engine = source.chaos?.createEngine(engineParts) ?? new Engine(engineParts);
  const roster = new Roster({
    database,
    logger,
    roles,
    monotonic: clock.monotonic,
    version: parts.version,
    keys: () => parts.secretKeys.inUse,
    onOthers: (others) => {
      engine.shareTimers(wakeTimers(others));
      // Also a process that only answers requests: it may die before it has told of what it leaves.
      presence.expectOthers(others.length > 0 && shards === null);
      followOthers();
    },
  });
  const presence = new Presence({
    database,
    logger,
    monotonic: clock.monotonic,
    id: roster.id,
    news: roster.news,
    takeUp: (epochs) => engine.takeUp(epochs),
    onLeft() {
      // Only the one before it in the ring notices, and that may lack the role for what is left.
      roster.news.tell('left');
      // It does what it has others do.
      roster.news.hear('left');
    },
  });
  const followOthers = (): void => {
    engine.expectAbandoned(!roster.hearsAll && leaveWork(roster.others));
    engine.expectOthers(!roster.hearsAll);
  };
  roster.news.onHearing(followOthers);
  hearOthers(roster.news, engine, () => schedule?.hurry());
  const { routes, connected, liveView, certificates, drain } = connectModules(
    modules,
    { engine, roster, kinds: MODULE_KINDS },
    async (request, client) =>
      app.fetch(request, { requestIP: () => ({ address: client, family: 'IPv4', port: 0 }), timeout() {} }),
  );
  const answersRequests = roles.includes('http');
  const requestListeners = connected.filter(({ noteRequest }) => noteRequest !== undefined);
  const deps: HttpDeps = {
    ...admission,
    session: sessions.principal,
    recordAct: actRecorder(database),
    noteChange: (change) => {
      for (const noted of changesBy(change)) {
        liveView.note(noted);
        for (const module of connected) module.noteChange?.(noted);
      }
      schedule?.consider();
    },
    noteRequest: (answered) => {
      for (const module of requestListeners) module.noteRequest?.(answered);
    },
    clock,
    log: logger,
    tracing: parts.tracing,
    ...(source.timeouts && { timeouts: source.timeouts }),
    ...(metrics && { observe: (answered: ResponseMetrics) => metrics.request(answered) }),
  };
  const app: App = answersRequests
    ? mount(routes, deps)
    : withoutRequests(mount(routes.filter(isOwn), deps), deps);
  const superseded = Promise.withResolvers<WrongSecretKey>();
  const duties = [
    ...serviceDuties({
      database,
      clock,
      engine,
      logger,
      kinds: MODULE_KINDS,
      bodies: parts.bodies,
      holders: BODY_HOLDERS,
      isDistributed: shards !== null,
    }),
    secretKeyWatch({ database, keys: parts.secretKeys, roster, onSuperseded: superseded.resolve }),
    ...connected.flatMap((module) => module.duties ?? []),
    ...(source.duties ?? []),
  ].filter(({ isEverybodys = false }) => isEverybodys || roles.includes('engine'));
  let schedule: Schedule | null = null;
  // Both stop at the same time: while a slow duty ends, the engine must not begin further attempts.
  const windDown = async (): Promise<void> => {
    await Promise.all([schedule?.stop(), engine.stop()]);
  };
  return {
    clock,
    database,
    statements,
    engine,
    app,
    sessions,
    duties,
    inspector: liveView,
    certificates,
    secretKeys: parts.secretKeys,
    superseded: superseded.promise,
    databaseEnded,
    sockets: liveView.sockets,
    get ports() {
      return Object.assign({}, ...connected.map((module) => module.ports?.()));
    },
    async start() {
      const lastRun = await readLastRun(database);
      await roster.start();
      // A rotation that did not see this instance yet may have gone over to a key that it does not have.
      await parts.secretKeys.refresh();
      for (const module of connected) await module.start?.();
      // These ask the database at once, and what the start still waits for would queue behind them.
      schedule = startDuties(duties, {
        database,
        clock,
        logger,
        lastRun,
        // The duties of a process without that role are looked for: it does not notify of all that it writes
        // for them.
        isAlone: () => roster.hearsAll && roster.others.every((one) => one.roles.includes('engine')),
        isDistributed: shards !== null,
        onStuck: () => roster.news.tell('duties'),
      });
      engine.start();
    },
    drain,
    windDown,
    endWaits() {
      for (const module of connected) module.endWaits?.();
    },
    async stop() {
      await Promise.all([...connected.map((module) => module.close?.()), windDown()]);
      await presence.stop();
      await roster.stop();
      // The last requests and messages may have begun further work, so the engine is stopped again.
      await engine.stop();
      await roster.news.stop();
      await close();
    },
  };
}

/** Opens a service and starts it. */
export async function startService(parts: ServiceParts): Promise<Service> {
  const service = await openService(parts);
  try {
    await service.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}
