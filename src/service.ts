import { createApp } from './app.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { migrate } from './db/migrate.ts';
import { openDatabase } from './db/open.ts';
import { ensurePartitions } from './db/partitions.ts';
import { createSealer } from './db/seal.ts';
import { allDuties, type Schedule, startDuties } from './duties/schedule.ts';
import { type Clock, systemClock } from './engine/clock-source.ts';
import { Engine, type EngineParts } from './engine/engine.ts';
import { clientAddress } from './http/client-address.ts';
import type { App } from './http/mount.ts';
import { type OpenLimiter, openLimiter } from './http/open-limiter.ts';
import { Authenticator } from './modules/api-keys/authenticator.ts';
import { apiKeys } from './modules/api-keys/kind.ts';
import { findActiveKey } from './modules/api-keys/queries.ts';
import { openDomains } from './modules/domains/open.ts';
import { findSendingDomain } from './modules/domains/queries.ts';
import { createMarkdownRenderer } from './modules/emails/content/markdown-renderer.ts';
import { textFromHtml } from './modules/emails/content/text-part.ts';
import { explainEmail } from './modules/emails/explain.ts';
import { emails } from './modules/emails/kind.ts';
import { emailPerformer } from './modules/emails/perform.ts';
import { createInspector, type Inspector } from './modules/inspector/inspector.ts';
import { isLoopback } from './modules/webhooks/address-guard.ts';
import { fanOut } from './modules/webhooks/fan-out.ts';
import { openWebhooks } from './modules/webhooks/open.ts';
import { resolveSecretKey } from './secret-key.ts';
import type { Logger } from './telemetry/logger.ts';
import { torturedEngine } from './torture/tortured-engine.ts';
import { VERSION } from './version.ts';

/** What a service is built from besides its configuration. */
export interface ServiceParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Actors kept in memory; 0 reads each from its row before each event (tests). */
  readonly keptActors?: number;
}

/** A service that is ready to answer. */
export interface Service {
  readonly database: Database;
  readonly engine: Engine;
  readonly app: App;
  readonly inspector: Inspector;
  /** Starts the clock and the duties. */
  start(): void;
  /** Finishes what is in flight and closes the database. */
  stop(): Promise<void>;
}

/** Opens and migrates the database and puts the parts together. Nothing runs by itself before `start`. */
export async function openService({
  config,
  logger,
  clock = systemClock,
  keptActors,
}: ServiceParts): Promise<Service> {
  const secretKey = await resolveSecretKey(config);
  const sealer = createSealer(secretKey);
  const database = await openDatabase({ url: config.databaseUrl, dataDir: config.dataDir });
  await migrate(database);
  await ensurePartitions(database, clock.now());
  const policy = { allowPrivate: isLoopback(config.host), allowCidrs: config.webhookAllowCidrs ?? [] };
  const webhooks = openWebhooks({ database, clock, sealer, policy });
  const domains = openDomains({ database, clock, sealer, config });
  const engine = await openEngine(config, {
    database,
    clock,
    logger,
    kinds: [apiKeys, emails(emailPerformer(clock), fanOut), ...webhooks.kinds, domains.kind],
    ...(keptActors === undefined ? {} : { keptActors }),
  });
  const authenticator = new Authenticator(database, clock);
  const renderer = createMarkdownRenderer();
  const limits = await openLimits(config, clock, logger);
  const admission = {
    authenticate: authenticator.authenticate,
    limiter: limits.limiter,
    clientAddress: clientAddress(config.trustProxy),
  };
  const inspector = createInspector({
    ...admission,
    engine,
    database,
    clock,
    log: logger,
    secretKey,
    baseUrl: config.publicUrl,
    version: VERSION,
    explain: { email: explainEmail },
    findKey: (id) => findActiveKey(database, id),
  });
  const app = createApp({
    ...admission,
    session: inspector.session,
    inspector: inspector.deps,
    version: VERSION,
    startedAt: clock.monotonic(),
    database,
    engine,
    clock,
    sealer,
    log: logger,
    baseUrl: config.publicUrl,
    targetRules: webhooks.targetRules,
    simulatorDomain: config.simulatorDomain,
    testSendsPerDay: config.testSendsPerDay,
    domains: { ...domains.commands, engine },
    findSendingDomain: (workspaceId, name) => findSendingDomain(database, workspaceId, name),
    renderMarkdown: renderer.render,
    textFromHtml,
  });
  let schedule: Schedule | null = null;
  return {
    database,
    engine,
    app,
    inspector,
    start() {
      engine.start();
      schedule = startDuties(allDuties({ database, clock, authenticator, engine }), logger);
    },
    async stop() {
      inspector.stop();
      await schedule?.stop();
      await engine.stop();
      renderer.close();
      limits.close();
      await authenticator.noteUse().catch(() => {});
      await database.close();
    },
  };
}

/** Opens a service and sets its clock and duties going. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const service = await openService({ config, logger });
  service.start();
  return service;
}

/** Counts in this process, or for all instances in one Redis. */
function openLimits(config: Config, { monotonic }: Clock, log: Logger): Promise<OpenLimiter> {
  const store = config.rateLimitStore === 'memory' ? undefined : config.rateLimitStore;
  return openLimiter({
    perAddress: config.rateLimitPerIp,
    perKey: config.rateLimitPerKey,
    store,
    monotonic,
    log,
  });
}

/** The engine; one that can be broken and killed where a torture asks for it. */
async function openEngine({ torture }: Config, parts: EngineParts): Promise<Engine> {
  return torture ? await torturedEngine(torture, parts) : new Engine(parts);
}
