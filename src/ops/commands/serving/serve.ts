import { setTimeout as pause } from 'node:timers/promises';
import { ensureFirstKey, type FirstKey } from '../../../accounts/api-keys/issue.ts';
import { setupLink } from '../../../accounts/members/sign-in/setup.ts';
import { ensureFirstWorkspace } from '../../../accounts/workspace/commands.ts';
import { isDoneWithin } from '../../../platform/async/deadline.ts';
import { type Config, redacted } from '../../../platform/config/config.ts';
import { isReviewing } from '../../../platform/config/roles.ts';
import { VERSION } from '../../../platform/config/version.ts';
import { type ControlServer, serveControl } from '../../../platform/control/server.ts';
import { WrongSecretKey } from '../../../platform/db/canary.ts';
import { createLogger, type Logger } from '../../../platform/telemetry/logger.ts';
import { openService, type Service } from '../../../service.ts';
import type { Inspector } from '../../../web/live/inspector.ts';
import type { Terminal } from '../terminal.ts';
import { type Doors, openDoors } from './doors.ts';
import { firstRunText } from './first-run.ts';
import { stopRequested } from './shutdown.ts';
import { usualCompilers } from './usual-compilers.ts';
import { abandoned, serveWith } from './workers.ts';

/**
 * Orchestrators kill after 30 s, in which the time to drain is counted. Unfinished work is durable, and the
 * next start finds it.
 */
const FINISH_WITHIN_MS = 25_000;
/** Requests in flight get this long before the engine begins to stop; most take milliseconds. */
const REQUESTS_FIRST_MS = 1_000;

/** A process serves alone, as the parent of N workers (`workers`), or as one of them (`worker`). */
export interface ServeOptions {
  readonly workers?: number;
  readonly worker?: number;
  /** The roles as they were written. */
  readonly only?: string;
}

/** `posthorn serve` runs until it is asked to stop and returns the exit code. */
export async function serve(config: Config, terminal: Terminal, options: ServeOptions = {}): Promise<number> {
  const { workers = 1, worker } = options;
  if (workers > 1 && config.databaseUrl === null) {
    terminal.error(
      'Several workers need a PostgreSQL: set DATABASE_URL. The embedded database belongs to one process.\n',
    );
    return 2;
  }
  const logger = createLogger({ level: config.logLevel, pretty: config.profile === 'development' });
  logger.debug(redacted(config), 'Configuration');
  if (workers > 1) return serveWith(workers, logger, options.only);
  // This comes before everything else, so that a signal during the start is not lost.
  const stop =
    worker === undefined ? stopRequested() : Promise.race([stopRequested({ isWorker: true }), abandoned()]);
  const service = await openService({
    config: withItsDoors(config, worker === undefined || worker === 1),
    logger,
    chaos: config.torture && (await import('../../torture/faults/faulty-engine.ts')).chaosOf(config.torture),
  });
  let doors: Doors | undefined;
  let isDraining = false;
  const control = openControl(service, config, logger);
  try {
    const workspace = await ensureFirstWorkspace(service.database, config.defaultPlan, service.clock.now());
    const keys = await firstKeys(service, workspace, config, logger);
    const links = { setup: '', liveView: '' };
    try {
      await service.start();
      // Whatever may still end the start comes before the doors: no request is to be cut off by it.
      if (worker === undefined || worker === 1) links.setup = await setupText(service, config, workspace.id);
      if (config.profile === 'development' && worker === undefined)
        links.liveView = await liveViewText(service.inspector, workspace.id);
      doors = openDoors(service, config, logger, {
        shared: worker !== undefined,
        isDraining: () => isDraining,
      });
    } finally {
      // The keys exist now, even if a port was taken, and they are shown only this once.
      if (keys.some(({ origin }) => origin !== 'kept')) terminal.out(firstRunText(config, keys));
    }
    if (worker === undefined || worker === 1) terminal.out(links.setup);
    const { roles } = config;
    logger.info({ url: doors.origin, version: VERSION, database: service.database.kind, roles }, 'Listening');
    if (config.databaseUrl === null && isReviewing(roles))
      logger.warn(
        {},
        'Nothing is sent by this process, which only answers requests. Start it without --only to send.',
      );
    usualCompilers();
    if (config.profile === 'development' && worker === undefined) terminal.out(links.liveView);
    const signal = await Promise.race([stop, service.superseded, service.databaseEnded]);
    if (typeof signal !== 'string') {
      const reason =
        signal instanceof WrongSecretKey
          ? 'the database is used with another secret key'
          : 'the embedded database has ended';
      logger.error({ err: signal }, `Stopping: ${reason}`);
      const { exitCodeOf, explain } = await import('../explain.ts');
      terminal.error(explain(signal));
      return exitCodeOf(signal);
    }
    const drainMs = config.drainSeconds * 1_000;
    if (drainMs > 0) {
      logger.info({ signal, drainMs }, 'Draining: /ready answers 503, and requests are still answered');
      isDraining = true;
      service.drain();
      await pause(drainMs);
    }
    logger.info({ signal }, 'Stopping: finishing the work in flight first');
  } finally {
    const finished = await isDoneWithin(
      FINISH_WITHIN_MS - (isDraining ? config.drainSeconds * 1_000 : 0),
      finish(service, doors, control),
    );
    if (finished) logger.info('Stopped');
    else logger.warn('Stopped with work in flight; the next start continues it');
  }
  return 0;
}

/**
 * Ports that cannot be shared belong to the first worker, and those that take something from outside to the
 * role http.
 */
const withItsDoors = (config: Config, isFirst: boolean): Config => ({
  ...config,
  opensMailPorts: isFirst && config.roles.includes('http'),
  ...(!isFirst && { metricsPort: null }),
});

/**
 * Requests end first, since they give the engine events; then the engine, whose outcomes need the database;
 * then the database. The engine does not wait for a slow request: a body may take two minutes to arrive.
 */
async function finish(
  service: Service,
  doors: Doors | undefined,
  control: ControlServer | null,
): Promise<void> {
  service.sockets.close();
  service.endWaits();
  const closed = doors?.close() ?? Promise.resolve();
  await isDoneWithin(REQUESTS_FIRST_MS, closed);
  await Promise.all([closed, control?.close(), service.windDown()]);
  await service.stop();
}

/**
 * Lets commands work on the embedded database beside the service; those of a server connect to it directly.
 */
function openControl(
  { statements, secretKeys }: Service,
  { dataDir }: Config,
  logger: Logger,
): ControlServer | null {
  if (statements === null) return null;
  try {
    return serveControl(statements, dataDir, secretKeys);
  } catch (error) {
    logger.warn(
      { err: error },
      'Commands cannot reach this service: its control socket could not be created.',
    );
    return null;
  }
}

/** Prints the link that makes the first owner, while there is no account. */
async function setupText({ database, clock }: Service, config: Config, workspaceId: string): Promise<string> {
  const { publicUrl } = config;
  const link = await setupLink(database, workspaceId, { publicUrl, now: () => clock.now() });
  return link === null ? '' : `Create the first account, once, within a day:\n  ${link}\n\n`;
}

/** Prints links into the live view for a developer who has started the service locally. */
async function liveViewText({ link }: Inspector, workspaceId: string): Promise<string> {
  return [
    'Open the live view. Each link opens one session of an hour, once:',
    `  test  ${await link({ workspaceId, livemode: false })}`,
    `  live  ${await link({ workspaceId, livemode: true })}`,
    '',
    '',
  ].join('\n');
}

async function firstKeys(
  service: Service,
  workspace: { readonly id: string; readonly createdAt: number },
  config: Config,
  logger: Logger,
): Promise<FirstKey[]> {
  const keys = [
    await ensureFirstKey(service, workspace, true, config.bootstrapLiveKey),
    await ensureFirstKey(service, workspace, false, config.bootstrapTestKey),
  ];
  for (const { livemode, ignored } of keys)
    if (ignored)
      logger.warn(
        `BOOTSTRAP_${livemode ? 'LIVE' : 'TEST'}_KEY is not a key of this database: it is read on the first start only.`,
      );
  return keys;
}
