import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { packaged } from '../../src/ops/torture/postgres-programs.ts';
import { PostgresServer } from '../../src/ops/torture/postgres-server.ts';

/** A server and one that follows it. */
export interface LeaderAndStandby {
  readonly leader: PostgresServer;
  readonly standby: PostgresServer;
  stop(): Promise<void>;
}

/** Starts both, some three seconds of processor time. */
export async function startLeaderAndStandby(
  settings: Readonly<Record<string, string>> = {},
): Promise<LeaderAndStandby> {
  const leader = await PostgresServer.start({ programs: packaged(), port: await freePort() });
  await leader.shutDown();
  const standby = leader.standby(await freePort(), settings);
  await leader.up();
  await standby.up();
  return {
    leader,
    standby,
    async stop() {
      await Promise.all([leader, standby].map((server) => server.remove()));
    },
  };
}

/** Runs statements on a server as its superuser, and answers the rows of the last one. */
export async function tell(server: PostgresServer, ...statements: string[]): Promise<postgres.Row[]> {
  const sql = postgres(server.url('postgres'), { max: 1, onnotice: () => {} });
  try {
    let rows: postgres.Row[] = [];
    for (const statement of statements) rows = await sql.unsafe(statement);
    return rows;
  } finally {
    await sql.end();
  }
}
