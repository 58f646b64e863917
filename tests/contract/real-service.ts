import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { ensureFirstWorkspace } from '../../src/accounts/workspace/commands.ts';
import type { Permission } from '../../src/http/auth/permissions.ts';
import { listen } from '../../src/http/listen/listen.ts';
import type { Route } from '../../src/http/request/route.ts';
import { documentedRoutes, MODULE_TAGS } from '../../src/modules.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { openService, type Service, type ServiceParts } from '../../src/service.ts';
import { openApiOf } from '../../src/web/docs/openapi/openapi.ts';
import { layEmbedded } from '../support/embedded.ts';
import { PATIENT } from '../support/live-service.ts';
import { createServedDatabase } from '../support/postgres.ts';
import { type Asking, ask, type Told } from './ask.ts';
import { withSchemasInPlace } from './schemas-in-place.ts';
import { Witness } from './witness.ts';

/** Every endpoint of the service. Stating them touches nothing that they depend on. */
export const ROUTES: readonly Route[] = documentedRoutes();

/** The interface as it is published, each schema where it is used. */
export const OPEN_API = withSchemasInPlace(
  openApiOf(ROUTES, MODULE_TAGS, { baseUrl: 'http://localhost:3000', ...LONGEST_RETENTION }),
);

/** One for all services of this process: it compiles a schema with the first answer that has it. */
const WITNESS = new Witness(OPEN_API);

/** The whole service in this process, on a separate socket and database. */
export interface RealService extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly service: Service;
  /** The first workspace, whose keys `keyWith` makes. */
  readonly workspaceId: string;
  /** Everything that was logged, as it would be written. */
  logged(): string;
  /** A new key of the first workspace. */
  keyWith(env: 'live' | 'test', permissions: readonly Permission[]): Promise<string>;
  /** Asks, and holds the answer against the OpenAPI document. */
  ask(asking: Asking): Promise<Told>;
}

/**
 * Starts one without rate limits; `environment` is added to what it would read, `parts` to what it is built
 * from.
 */
export async function startRealService(
  environment: Record<string, string> = {},
  parts: Pick<ServiceParts, 'clock' | 'startMarkdown'> = {},
): Promise<RealService> {
  const database = environment.DATABASE_URL === undefined ? await createServedDatabase() : null;
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-contract-'));
  const loaded = loadConfig({
    ...(database && { DATABASE_URL: database.url }),
    DATA_DIR: dataDir,
    SECRET_KEY: 'only-for-tests-only-for-tests-only',
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PREVIEW: '0',
    RATE_LIMIT_PER_KEY: '0',
    TEST_SENDS_PER_DAY: '0',
    // No server answers there: no test asks the world's DNS.
    DNS_SERVERS: '127.0.0.1:9',
    ...environment,
  });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  if (loaded.config.databaseUrl === null) await layEmbedded(dataDir);
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  // The limits show when a database fails on purpose.
  const timeouts = environment.DATABASE_URL ? {} : { timeouts: PATIENT };
  const service = await openService({ config: loaded.config, logger, ...timeouts, ...parts });
  await service.start();
  const workspace = await ensureFirstWorkspace(service.database, 'free', Date.now());
  const server = listen(service.app, { hostname: '127.0.0.1', port: 0, sockets: service.sockets });
  return {
    url: server.url.origin,
    port: server.port ?? 0,
    service,
    workspaceId: workspace.id,
    logged: () => lines.join(''),
    keyWith: (env, permissions) =>
      issueKey(
        service.engine,
        { workspaceId: workspace.id, livemode: env === 'live', name: 'Contract', permissions },
        Date.now(),
      ),
    async ask(asking) {
      const reply = await ask(server.url.origin, asking);
      WITNESS.hold(asking, reply);
      return reply;
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await service.stop();
      await database?.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * The environments in which a service uses each of the databases: what the API says of people is mostly said
 * by SQL. A file whose statements others run on both needs one.
 */
export const BOTH_DATABASES: [string, Record<string, string>][] = [
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
];
