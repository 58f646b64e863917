import { hostname } from 'node:os';
import { findActiveKey } from './accounts/api-keys/queries.ts';
import { findTerms } from './accounts/workspace/queries.ts';
import { expectedOwner } from './engine/bodies/exchanged.ts';
import type { Chaos } from './engine/chaos.ts';
import { KeyAuthenticator } from './http/auth/key-authenticator.ts';
import { SessionCookie } from './http/auth/sessions/session-cookie.ts';
import { SessionStore } from './http/auth/sessions/session-store.ts';
import { Sessions } from './http/auth/sessions/sessions.ts';
import { openLimiter } from './http/limits/open-limiter.ts';
import { type RequestTimeouts, TIMEOUTS } from './http/request/pipeline.ts';
import { countReplicas } from './http/system/replica-metrics.ts';
import { createSenderChecks } from './mail/authentication/sender-checks.ts';
import { createMarkdownRenderer, startMarkdownThread } from './mail/content/markdown-renderer.ts';
import { systemNameServers } from './mail/dns/resolver.ts';
import { createMailReader } from './mail/reading/mail-reader.ts';
import { openSpamFilters } from './mail/spam/spam-filter.ts';
import { BODY_HOLDERS, type EveryPart } from './modules.ts';
import { openBodyStore } from './platform/bodies/open.ts';
import { clientAddress } from './platform/config/client-address.ts';
import type { Config } from './platform/config/config.ts';
import { ServedKeys } from './platform/config/served-keys.ts';
import { VERSION } from './platform/config/version.ts';
import { trustedAuthorities } from './platform/crypto/authorities.ts';
import type { Database } from './platform/db/database.ts';
import { isDistributedDatabase } from './platform/db/distribution/present.ts';
import { openShards } from './platform/db/distribution/shards.ts';
import { EmbeddedDatabase } from './platform/db/embedded/embedded.ts';
import type { Engine, EngineEnded } from './platform/db/embedded/guarded-engine.ts';
import { migrate } from './platform/db/migrate.ts';
import { migrations } from './platform/db/migrations.ts';
import { openDatabase } from './platform/db/open.ts';
import { ensureFirstPartitions } from './platform/db/partitions.ts';
import type { Reads } from './platform/db/reads.ts';
import { ReplicatedReads } from './platform/db/replica/replicated-reads.ts';
import type { Logger } from './platform/telemetry/logger.ts';
import { MeasuredDatabase } from './platform/telemetry/measured-database.ts';
import type { Metrics } from './platform/telemetry/metrics.ts';
import { openTracing } from './platform/telemetry/open-tracing.ts';
import { rarely } from './platform/telemetry/rarely.ts';
import { type Clock, systemClock } from './platform/time/clock.ts';
import { openClock } from './platform/time/database-clock.ts';
import type { LiveMailOverrides } from './sending/emails/module.ts';
import { alignPositions } from './sending/events/commands.ts';

/** The configuration and the logger, and the parts that tests replace. */
export interface ServiceSource {
  readonly config: Config;
  readonly logger: Logger;
  /** Replaces the clock that follows the database's (tests). */
  readonly clock?: Clock;
  /** Replaces the clock of the machine, which may be wrong (tests). */
  readonly machine?: Clock;
  readonly liveMail?: LiveMailOverrides;
  /**
   * The timeouts of a request; the usual ones when absent (tests set longer ones, because busy machines run
   * them too).
   */
  readonly timeouts?: RequestTimeouts;
  /** The faults that `posthorn torture` builds into the parts. */
  readonly chaos?: Chaos | null;
  /** Starts a thread that renders markdown; as usual when absent (tests). */
  readonly startMarkdown?: typeof startMarkdownThread;
}

/** The parts of the modules, and the way to close them afterwards. */
export interface OpenParts {
  readonly parts: EveryPart;
  /** The runner of statements in an embedded database; null with a server. */
  readonly engine: Engine | null;
  /** Resolves when an embedded database has ended by itself. */
  readonly ended: Promise<EngineEnded>;
  close(): Promise<void>;
}

/**
 * Opens the parts of the modules: the database with the present schema, the clock, keys, limits and sessions.
 * When one of them cannot be opened, those before it are closed again, because an embedded database stays
 * locked while anybody holds it.
 */
export async function openParts(source: ServiceSource): Promise<OpenParts> {
  const opened: CloseStep[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).toReversed()) await one();
  };
  try {
    const { databaseUrl: url, dataDir } = source.config;
    const patience = Math.ceil((source.timeouts ?? TIMEOUTS).workMs / TIMEOUTS.workMs);
    const database = await openDatabase({ url, dataDir, patience });
    opened.push(() => database.close());
    const embedded = database instanceof EmbeddedDatabase ? database : null;
    const parts = await openEach(source, database, opened);
    return {
      parts,
      engine: embedded?.shared ?? null,
      ended: embedded?.ended ?? new Promise(() => {}),
      close,
    };
  } catch (error) {
    // The first error is the one that matters, also when closing fails.
    await close().catch(() => {});
    throw error;
  }
}

type CloseStep = () => Promise<void> | void;

/** Opens each part, and adds the function that closes it to `opened`. */
async function openEach(source: ServiceSource, plain: Database, opened: CloseStep[]): Promise<EveryPart> {
  const { config, logger, liveMail = {} } = source;
  const metrics = config.metricsPort === null ? null : await openMetrics();
  const database = await readyDatabase(source, plain, metrics);
  const secretKeys = await ServedKeys.open(database, config);
  const { sealer, signer } = secretKeys;
  const { clock, closeClock } = await clockOf(source, database);
  opened.push(closeClock);
  const shards = await openShards(database, clock.monotonic);
  await ensureFirstPartitions(database, clock.now());
  const reads = readsOf(source, database, metrics, clock.monotonic, opened);
  const tracing = await openTracing({
    endpoint: config.otelExporterOtlpEndpoint,
    headers: config.otelExporterOtlpHeaders ?? {},
    serviceName: config.otelServiceName,
    version: VERSION,
    ratio: config.otelTracesSamplerArg,
    now: () => clock.now(),
    warn: rarely(logger, clock.monotonic),
  });
  if (tracing) opened.push(() => tracing.close());
  const limits = await openLimiter({
    perAddress: config.rateLimitPerIp,
    perKey: config.rateLimitPerKey,
    store: config.rateLimitStore === 'memory' ? undefined : config.rateLimitStore,
    monotonic: clock.monotonic,
    log: logger,
  });
  opened.push(() => limits.close());
  const authenticator = new KeyAuthenticator(database, clock, shards === null);
  const mailReader = createMailReader();
  opened.push(() => mailReader.close());
  const senderChecks = createSenderChecks(() => config.dnsServers ?? systemNameServers());
  opened.push(() => senderChecks.close());
  const spamFilters = openSpamFilters(config, {
    name: config.ehloName ?? hostname(),
    logger,
    monotonic: clock.monotonic,
  });
  const markdown = createMarkdownRenderer({}, source.startMarkdown ?? startMarkdownThread);
  opened.push(() => markdown.close());
  const now = () => clock.now();
  const ca = await trustedAuthorities(config.tlsCaFile);
  const bodies = openBodyStore(config, {
    ca,
    now,
    metrics,
    monotonic: clock.monotonic,
    limits: liveMail.bodies ?? {},
    expectedOwner: (bucket) => expectedOwner(bucket, database, BODY_HOLDERS),
  });
  return {
    config,
    database,
    reads,
    shards,
    clock,
    logger,
    secretKeys,
    sealer,
    signer,
    metrics,
    tracing,
    version: VERSION,
    ca,
    bodies,
    mailReader,
    senderChecks,
    ...spamFilters,
    markdown,
    authenticator,
    liveMail,
    admission: {
      authenticate: authenticator.authenticate,
      remembered: authenticator.remembered,
      limiter: limits.limiter,
      clientAddress: clientAddress(config.trustProxy),
      baseUrl: config.publicUrl,
    },
    sessions: new Sessions(
      new SessionStore(database, now),
      new SessionCookie(now, config.publicUrl.startsWith('https:')),
      (id) => findActiveKey(database, id),
      (workspaceId) => findTerms(database, workspaceId),
      now,
      config.requireTwoFactor,
    ),
  };
}

/** Most services have no metrics, and need not load the library. */
async function openMetrics(): Promise<Metrics> {
  const { Metrics } = await import('./platform/telemetry/metrics.ts');
  return new Metrics({ version: VERSION });
}

/** Brings the schema of the database and its event log in order. */
async function readyDatabase(
  { logger, chaos }: ServiceSource,
  plain: Database,
  metrics: Metrics | null,
): Promise<Database> {
  const database = metrics ? new MeasuredDatabase(plain, metrics) : plain;
  await migrate(database, migrations, (migration, ms) => logger.info({ migration, ms }, 'Migrated'));
  if (await alignPositions(database, await isDistributedDatabase(database)))
    logger.warn('The database was restored or taken over: new events follow all existing ones.');
  await chaos?.prepare(database);
  return database;
}

/** The source of reads: the replicas, where some are configured and this instance has the role http. */
function readsOf(
  { config, logger }: ServiceSource,
  database: Database,
  metrics: Metrics | null,
  monotonic: () => number,
  opened: CloseStep[],
): Reads {
  const { databaseReadUrl: url, roles } = config;
  if (url === null || !roles.includes('http')) return database;
  const warn = rarely(logger, monotonic, { everyMs: 60_000, most: 5 });
  const reads = new ReplicatedReads(database, url, (server, reason, err) => {
    if (reason === null) logger.info({ server }, 'This replica answers lists and figures');
    else if (reason === 'primary') logger.info({ server }, 'This is the primary, and no replica at present');
    else
      warn(
        { server, reason, ...(err !== undefined && { err }) },
        'The replica is not used: the primary answers',
      );
  });
  opened.push(() => reads.close());
  if (metrics) countReplicas(metrics, reads);
  return reads;
}

/** The clock of the service: the database's, unless another one is given. */
async function clockOf(
  { clock, machine = systemClock, chaos, logger }: ServiceSource,
  database: Database,
): Promise<{ readonly clock: Clock; closeClock(): void }> {
  if (clock || chaos?.trustsMachineClock) return { clock: clock ?? machine, closeClock: () => {} };
  const own = await openClock(database, logger, machine);
  return { clock: own, closeClock: () => own.close() };
}
