import postgres from 'postgres';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { openService } from '../../src/service.ts';
import { type Client, createClient } from '../support/client.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type Service, startService } from '../support/service.ts';

const SECRET_KEY = 'k'.repeat(32);

/** One workspace of a storm. */
export interface Tenant {
  readonly workspaceId: string;
  readonly client: Client;
}

/** A service in a separate process, which may be killed and comes back on the same port and database. */
export interface StormWorld extends AsyncDisposable {
  readonly tenants: readonly Tenant[];
  readonly sql: postgres.Sql;
  /** `kill -9`, and the next start. */
  crash(): Promise<void>;
  /** Everything that the last process has printed. */
  output(): string;
}

/** Workspaces with keys, made before the service starts: it only knows how to make the first by itself. */
async function makeTenants(
  databaseUrl: string,
  count: number,
): Promise<{ workspaceId: string; key: string }[]> {
  const loaded = loadConfig({ DATABASE_URL: databaseUrl, SECRET_KEY });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  const service = await openService({
    config: loaded.config,
    logger: createLogger({ level: 'silent', pretty: false }),
  });
  const tenants: { workspaceId: string; key: string }[] = [];
  for (let i = 0; i < count; i += 1) {
    const workspaceId = mintId('ws', Date.now());
    await service.database.query(
      `insert into workspaces (id, name, plan, created_at) values ($1, 'Storm', 'growth', now())`,
      [workspaceId],
    );
    const wanted = { workspaceId, livemode: false, name: 'storm', permissions: ['*'] as const };
    tenants.push({ workspaceId, key: await issueKey(service.engine, wanted, Date.now()) });
  }
  await service.stop();
  return tenants;
}

export async function openStormWorld(tenants: number): Promise<StormWorld> {
  const database = await createTestDatabase();
  const keys = await makeTenants(database.url, tenants);
  const port = await freePort();
  const start = (): Promise<Service> =>
    startService({
      port,
      env: {
        DATABASE_URL: database.url,
        SECRET_KEY,
        TEST_SENDS_PER_DAY: '0',
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
        LOG_LEVEL: 'warn',
      },
    });
  let service = await start();
  const sql = postgres(database.url, { max: 2, onnotice: () => {} });
  return {
    tenants: keys.map(({ workspaceId, key }) => ({ workspaceId, client: createClient(service.url, key) })),
    sql,
    async crash() {
      await service.kill();
      service = await start();
    },
    output: () => service.output(),
    async [Symbol.asyncDispose]() {
      await sql.end();
      await service[Symbol.asyncDispose]();
      await database.close();
    },
  };
}
