import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Server } from 'bun';
import { createApp } from './app.ts';
import { KeyAuthenticator } from './auth/key-authenticator.ts';
import type { Config } from './config.ts';
import { bindToKey } from './db/canary.ts';
import type { Database } from './db/database.ts';
import { migrate } from './db/migrate.ts';
import { openDatabase } from './db/open.ts';
import { ensurePartitions } from './db/partitions.ts';
import { createSealer } from './db/seal.ts';
import { createSigner } from './db/sign.ts';
import { allDuties, type Duty, type Schedule, startDuties } from './duties/schedule.ts';
import { type Clock, systemClock } from './engine/clock-source.ts';
import { openClock } from './engine/database-clock.ts';
import { Engine, type EngineParts } from './engine/engine.ts';
import { clientAddress } from './http/client-address.ts';
import type { App } from './http/mount.ts';
import { type OpenLimiter, openLimiter } from './http/open-limiter.ts';
import type { Answered } from './http/pipeline.ts';
import { apiKeys } from './modules/api-keys/kind.ts';
import { findActiveKey } from './modules/api-keys/queries.ts';
import { captureStore } from './modules/captured/commands.ts';
import { domainKind } from './modules/domains/kind.ts';
import { openDomains } from './modules/domains/open.ts';
import { missingWays } from './modules/domains/queries.ts';
import { rememberSendingDomains } from './modules/domains/sending-domains.ts';
import { type AttemptSchedule, LIVE_SCHEDULE } from './modules/emails/attempt-schedule.ts';
import { createMarkdownRenderer } from './modules/emails/content/markdown-renderer.ts';
import { textFromHtml } from './modules/emails/content/text-part.ts';
import { explainEmail } from './modules/emails/explain.ts';
import { feedbackRecorder } from './modules/emails/feedback.ts';
import { emails } from './modules/emails/kind.ts';
import { openLiveMail } from './modules/emails/live.ts';
import type { LiveLimits } from './modules/emails/live-performer.ts';
import { emailPerformer } from './modules/emails/perform.ts';
import { openWaysOut } from './modules/emails/ways-out.ts';
import { alignPositions } from './modules/events/commands.ts';
import { openInbound } from './modules/inbound/open.ts';
import { createInspector, type Inspector } from './modules/inspector/inspector.ts';
import { openSubmission } from './modules/submission/open.ts';
import { countEngine, openMetricsDoor } from './modules/system/metrics.ts';
import { isAmongItself } from './modules/webhooks/address-guard.ts';
import { fanOut } from './modules/webhooks/fan-out.ts';
import { openWebhooks } from './modules/webhooks/open.ts';
import { findPlan } from './modules/workspace/queries.ts';
import { resolveSecretKey } from './secret-key.ts';
import type { Logger } from './telemetry/logger.ts';
import { MeasuredDatabase } from './telemetry/measured-database.ts';
import { Metrics } from './telemetry/metrics.ts';
import { prepareTorture, torturedEngine } from './torture/tortured-engine.ts';
import { trustedAuthorities } from './transport/authorities.ts';
import type { SmtpDoor } from './transport/inbound/smtp-door.ts';
import { createMailReader } from './transport/reading/mail-reader.ts';
import { createCertificateStore } from './transport/ses/certificates.ts';
import { askSns } from './transport/ses/sns-requests.ts';
import type { Transport } from './transport/transport.ts';
import { VERSION } from './version.ts';

/** What a service is built from besides its configuration. */
export interface ServiceParts {
  readonly config: Config;
  readonly logger: Logger;
  /** Instead of one that follows the database's (tests). */
  readonly clock?: Clock;
  /** The machine's own clock, which may be wrong (tests). */
  readonly machine?: Clock;
  /** Actors kept in memory; 0 reads each from its row before each event (tests). */
  readonly keptActors?: number;
  /** Beside those that every service has (tests). */
  readonly duties?: readonly Duty[];
  /** How live mail is timed, where tests are in a hurry. */
  readonly liveMail?: {
    readonly limits?: Partial<LiveLimits>;
    readonly schedule?: Partial<AttemptSchedule>;
    /** The default way out, instead of the one that is configured. */
    readonly transport?: Transport;
  };
}

/** The SMTP listeners; each is open where its port is configured. */
type DoorName = 'inbound' | 'submission' | 'submissionTls';

/** A service that is ready to answer. */
export interface Service {
  readonly clock: Clock;
  readonly database: Database;
  readonly engine: Engine;
  readonly app: App;
  readonly inspector: Inspector;
  /** Ports of the SMTP listeners that are open. */
  readonly doors: Readonly<Record<DoorName, number | null>>;
  /** Starts the clock and the duties, and opens the SMTP listeners. Rejects when a port is taken. */
  start(): Promise<void>;
  /** From now on nothing begins by itself; requests are still answered. Resolves once what had begun has ended. */
  windDown(): Promise<void>;
  /** Finishes what is in flight and closes the database. */
  stop(): Promise<void>;
}

/** Opens and migrates the database and puts the parts together. Nothing runs by itself before `start`. */
export async function openService({
  config,
  logger,
  clock: given,
  machine = systemClock,
  keptActors,
  duties = [],
  liveMail = {},
}: ServiceParts): Promise<Service> {
  const secretKey = await resolveSecretKey(config);
  const sealer = createSealer(secretKey);
  const signer = createSigner(secretKey);
  const opened = await openDatabase({ url: config.databaseUrl, dataDir: config.dataDir });
  const metrics = config.metricsPort === null ? null : new Metrics({ version: VERSION });
  const database = metrics ? new MeasuredDatabase(opened, metrics) : opened;
  await migrate(database);
  await bindToKey(database, sealer);
  if (await alignPositions(database))
    logger.warn('The database was restored, or taken over: new events follow behind all that were there.');
  if (config.torture) await prepareTorture(config.torture, database);
  const opensClock = given === undefined && config.torture?.break !== 'clock';
  const own = opensClock ? await openClock(database, logger, machine) : null;
  const clock = own ?? given ?? machine;
  await ensurePartitions(database, clock.now());
  const policy = { allowPrivate: isAmongItself(config), allowCidrs: config.webhookAllowCidrs ?? [] };
  const ca = await trustedAuthorities(config.tlsCaFile);
  const webhooks = openWebhooks({ database, clock, sealer, policy, ca });
  const domains = openDomains({ database, clock, sealer, config });
  const keep = captureStore(database, clock);
  const ways = openWaysOut({ config, clock, hostName: hostname(), ca, keep });
  const live = openLiveMail({
    ...{ database, clock, logger, sealer, signer },
    transport: (name) => (name === null && liveMail.transport) || ways.transport(name),
    enabled: config.transport,
    publicUrl: config.publicUrl,
    returnPathDomain: config.returnPathDomain,
    slots: config.sendingSlots,
    limits: liveMail.limits ?? {},
  });
  const engine = openEngine(config, {
    database,
    clock,
    logger,
    kinds: [apiKeys, emails(emailPerformer(clock, live), [fanOut]), ...webhooks.kinds, domains.kind],
    ...(keptActors === undefined ? {} : { keptActors }),
  });
  engine.listen(({ name }) => {
    if (name === domainKind.name) live.domainsChanged();
  });
  if (metrics) countEngine(metrics, engine);
  const authenticator = new KeyAuthenticator(database, clock);
  const renderer = createMarkdownRenderer();
  const mailReader = createMailReader();
  const limits = await openLimits(config, clock, logger);
  const admission = {
    authenticate: authenticator.authenticate,
    limiter: limits.limiter,
    clientAddress: clientAddress(config.trustProxy),
    baseUrl: config.publicUrl,
  };
  const inspector = createInspector({
    ...admission,
    engine,
    database,
    clock,
    log: logger,
    signer,
    version: VERSION,
    explain: { email: explainEmail },
    findKey: (id) => findActiveKey(database, id),
    findPlan: (workspaceId) => findPlan(database, workspaceId),
  });
  const emailCommands = {
    engine,
    database,
    simulatorDomain: config.simulatorDomain,
    testSendsPerDay: config.testSendsPerDay,
    liveSchedule: {
      ...LIVE_SCHEDULE,
      holdsDoubt: config.unknownOutcome === 'hold',
      ...liveMail.schedule,
    },
    findSendingDomain: rememberSendingDomains(database, engine, clock.monotonic),
    renderMarkdown: renderer.render,
  };
  const recordFeedback = feedbackRecorder({ database, engine, signer, clock });
  const app = createApp({
    ...emailCommands,
    ...admission,
    session: inspector.session,
    inspector: inspector.deps,
    version: VERSION,
    startedAt: clock.monotonic(),
    database,
    clock,
    sealer,
    log: logger,
    ...(metrics && { observe: (answered: Answered) => metrics.request(answered) }),
    targetRules: webhooks.targetRules,
    stopping: webhooks.stopping,
    tracking: { database, engine, signer, log: logger },
    ses: {
      sesTopicArn: config.sesTopicArn,
      fetchCertificate: createCertificateStore({ monotonic: clock.monotonic }),
      confirm: askSns,
      recordFeedback,
      log: logger,
    },
    domains: { ...domains.commands, engine },
    textFromHtml,
    mailReader,
  });
  const where = { host: config.host, name: config.ehloName ?? hostname() };
  const openDoors = async (): Promise<void> => {
    const { inboundSmtpPort, submissionPort, submissionTlsPort } = config;
    if (inboundSmtpPort !== null)
      doors.inbound = await openInbound({
        ...where,
        port: inboundSmtpPort,
        ...{ signer, logger, mailReader, record: recordFeedback },
      });
    const tls = await submissionTls(config);
    const submission = { ...where, ...admission, tls, clock, logger, mailReader, emails: emailCommands };
    if (submissionPort !== null)
      doors.submission = await openSubmission({ ...submission, port: submissionPort });
    if (submissionTlsPort !== null)
      doors.submissionTls = await openSubmission({
        ...submission,
        port: submissionTlsPort,
        implicitTls: true,
      });
  };
  const doors: Record<DoorName, SmtpDoor | null> = { inbound: null, submission: null, submissionTls: null };
  let schedule: Schedule | null = null;
  let metricsDoor: Server<undefined> | null = null;
  // Beside each other: a duty may take its time, and the clock would go on starting attempts for nobody to wait for.
  const windDown = async (): Promise<void> => {
    await Promise.all([schedule?.stop(), engine.stop()]);
  };
  return {
    clock,
    database,
    engine,
    app,
    inspector,
    get doors() {
      const portOf = (name: DoorName) => doors[name]?.port ?? null;
      return {
        inbound: portOf('inbound'),
        submission: portOf('submission'),
        submissionTls: portOf('submissionTls'),
      };
    },
    async start() {
      engine.start();
      await warnOfMissingWays(database, config, logger);
      schedule = startDuties(
        [...allDuties({ database, clock, authenticator, engine }), ...duties],
        clock,
        logger,
      );
      await openDoors();
      if (metrics && config.metricsPort !== null)
        metricsDoor = openMetricsDoor(metrics, { hostname: config.host, port: config.metricsPort });
    },
    windDown,
    async stop() {
      inspector.stop();
      await Promise.all([...Object.values(doors).map((door) => door?.close()), windDown()]);
      // What the last requests and messages have begun.
      await engine.stop();
      renderer.close();
      mailReader.close();
      await metricsDoor?.stop(true);
      limits.close();
      await authenticator.noteUse().catch(() => {});
      own?.close();
      await database.close();
    },
  };
}

/** Opens a service and sets its clock and duties going. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const service = await openService({ config, logger });
  try {
    await service.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}

/** Mail of domains whose way is not enabled is held, which nobody should have to find out by waiting for it. */
async function warnOfMissingWays(database: Database, { transport }: Config, logger: Logger): Promise<void> {
  for (const missing of await missingWays(database, transport))
    logger.warn(
      missing,
      `Domains have chosen ${missing.provider}, which TRANSPORT does not enable: their mail is held until it does.`,
    );
}

/** The certificate of the submission ports; null where mail is taken in clear. */
async function submissionTls({ submissionTlsCert, submissionTlsKey }: Config) {
  if (submissionTlsCert === null || submissionTlsKey === null) return null;
  const [cert, key] = await Promise.all(
    [submissionTlsCert, submissionTlsKey].map((path) => readFile(path, 'utf8')),
  );
  return { cert: cert as string, key: key as string };
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
function openEngine({ torture }: Config, parts: EngineParts): Engine {
  return torture ? torturedEngine(torture, parts) : new Engine(parts);
}
