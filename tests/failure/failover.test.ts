import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { diagnoseReplication } from '../../src/ops/doctor/database/replication.ts';
import type { Diagnosis } from '../../src/ops/doctor/diagnosis.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { packaged } from '../../src/ops/torture/postgres-programs.ts';
import { PostgresServer } from '../../src/ops/torture/postgres-server.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { primaryUrl } from '../../src/platform/db/server/servers.ts';
import { startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import { expectNothingLost, healed, SteadyClients } from './outage-world.ts';

// A leader with a synchronous standby. The leader dies, the standby is promoted, and the leader comes back as
// what it was: two servers then take writes, and only the one of the later timeline may be written to.

let leader: PostgresServer;
let standby: PostgresServer;
/** Both, the standby first. */
let both: string;

beforeAll(async () => {
  leader = await PostgresServer.start({ programs: packaged(), port: await freePort() });
  await leader.shutDown();
  standby = leader.standby(await freePort());
  await leader.up();
  await standby.up();
  await tell(leader, `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()');
  await eventually('a synchronous standby', async () => {
    const [row] = await tell(leader, 'select sync_state from pg_stat_replication');
    return row?.sync_state === 'sync' ? true : undefined;
  });
  both = leader.url('postgres').replace('@', `@127.0.0.1:${standby.port},`);
});
afterAll(async () => {
  await Promise.all([leader, standby].map((server) => server?.remove()));
});

async function tell(server: PostgresServer, ...statements: string[]): Promise<postgres.Row[]> {
  const sql = postgres(server.url('postgres'), { max: 1, onnotice: () => {} });
  try {
    let rows: postgres.Row[] = [];
    for (const statement of statements) rows = await sql.unsafe(statement);
    return rows;
  } finally {
    await sql.end();
  }
}

const diagnosed = async (): Promise<Diagnosis> => {
  const database = await PostgresDatabase.open(both);
  try {
    return await diagnoseReplication(database, 2);
  } finally {
    await database.close();
  }
};

describe('two servers of which one takes writes', () => {
  test('are one database: the service finds the leader behind the standby, and goes over to the standby that is promoted', async () => {
    expect((await diagnosed()).detail).toBe(
      '1 of 1 standbys follow the primary, and a commit waits for one.',
    );
    await using service = await startRealService({ DATABASE_URL: both });
    const key = await service.keyWith('test', ['*']);
    const clients = new SteadyClients(service, key);
    await clients.progress(100);
    await leader.strike();
    await tell(standby, 'select pg_promote()');
    expect(await healed(service, key, standby.url('postgres'))).toBeLessThan(3_000);
    await clients.progress(100);
    // The old leader knows nothing of that, and would take writes.
    await tell(standby, `alter system set synchronous_standby_names = ''`, 'select pg_reload_conf()');
    await leader.up();
    await tell(leader, `alter system set synchronous_standby_names = ''`, 'select pg_reload_conf()');
    await clients.progress(100);
    await clients.finish();
    await expectNothingLost(standby.url('postgres'), clients);
    expect([...clients.statuses.keys()].filter((status) => ![202, 503].includes(status))).toEqual([]);
  });

  test('that both take writes: the one that was promoted last is chosen, whatever their order', async () => {
    const reversed = standby.url('postgres').replace('@', `@127.0.0.1:${leader.port},`);
    for (const url of [both, reversed])
      expect(new URL(await primaryUrl(url)).port).toBe(String(standby.port));
  });

  test('without a standby are reported by doctor', async () => {
    expect(await diagnosed()).toMatchObject({
      status: 'wrong',
      detail: '0 of 1 standbys follow the primary: no server would take over.',
    });
  });

  test('of which none answers: the start says of each what it is', async () => {
    await Promise.all([leader.shutDown(), standby.shutDown()]);
    const database = new PostgresDatabase(both);
    try {
      await expect(database.query('select 1')).rejects.toThrow('cannot be reached');
    } finally {
      await database.close();
    }
  });
});
