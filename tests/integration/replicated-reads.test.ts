import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { diagnoseReplicas } from '../../src/ops/doctor/database/replicas.ts';
import type { Diagnosis } from '../../src/ops/doctor/diagnosis.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { Reads } from '../../src/platform/db/reads.ts';
import { NotFromReplica, Replica, type ReplicaFailure } from '../../src/platform/db/replica/replica.ts';
import { type ReadRoute, ReplicatedReads } from '../../src/platform/db/replica/replicated-reads.ts';
import { LeaderPosition, type WalPosition } from '../../src/platform/db/replica/wal-position.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { eventually } from '../support/eventually.ts';
import { type LeaderAndStandby, startLeaderAndStandby, tell } from '../support/leader-and-standby.ts';
import { serverUrl } from '../support/server.ts';

let servers: LeaderAndStandby;
let leader: PostgresDatabase;
let reads: ReplicatedReads;

beforeAll(async () => {
  servers = await startLeaderAndStandby({ max_standby_streaming_delay: '0' });
  await tell(servers.leader, 'create table notes (id integer primary key)', 'insert into notes values (1)');
  leader = await PostgresDatabase.open(servers.leader.url('postgres'));
  reads = new ReplicatedReads(leader, servers.standby.url('postgres'));
});
afterAll(async () => {
  await reads?.close();
  await leader?.close();
  await servers?.stop();
});

const WHERE = 'select pg_is_in_recovery() as replica';
const counted = (answered: ReadRoute): number => reads.counts.get(answered) ?? 0;

/** Reads until something has been counted that way, and answers what the read of it gave. */
const until = <Row extends object>(answered: ReadRoute, read: () => Promise<readonly Row[]>) =>
  eventually(`a read that is counted as ${answered}`, async () => {
    const before = counted(answered);
    const rows = await read();
    return counted(answered) > before ? rows : undefined;
  });

/** A look may find that a busy machine does not answer in time; another one finds what is so. */
const diagnosed = (url: string, status: Diagnosis['status'], detail: string) =>
  eventually(`a doctor who finds that it ${detail}`, async () => {
    const found = await diagnoseReplicas(leader, url);
    return found.status === status && found.detail.endsWith(detail) ? true : undefined;
  });

const examined = (url: string, reason: ReplicaFailure, change: Partial<WalPosition> = {}) =>
  eventually(`a server that is not read from: ${reason}`, async () => {
    const replica = new Replica(url);
    try {
      await replica.examine({ ...(await new LeaderPosition(leader).read()), ...change });
      throw new Error('It is read from.');
    } catch (error) {
      return error instanceof NotFromReplica && error.reason === reason ? true : undefined;
    } finally {
      await replica.close();
    }
  });

describe('a read', () => {
  test('is answered by the replica, raw or put together by Drizzle, and with everything that was written before it', async () => {
    expect(await until('replica', () => reads.query(WHERE))).toEqual([{ replica: true }]);
    for (let id = 2; id < 40; id++) {
      await leader.query('insert into notes values ($1)', [id]);
      const rows = await reads.query('select id from notes where id = $1', [id], { isSearch: id % 2 === 0 });
      expect(rows).toEqual([{ id }]);
    }
    const found = await until('replica', () =>
      reads.read((orm) =>
        orm.select({ replica: sql<boolean>`pg_is_in_recovery()` }).from(sql`notes limit 1`),
      ),
    );
    expect(found).toEqual([{ replica: true }]);
  });

  test('waits at the replica for what the leader had, and then goes to the leader', async () => {
    await tell(servers.standby, 'select pg_wal_replay_pause()');
    await eventually('a standby that has stopped', async () => {
      const [row] = await tell(servers.standby, 'select pg_get_wal_replay_pause_state() as state');
      return row?.state === 'paused' ? true : undefined;
    });
    try {
      await leader.query('insert into notes values (100)');
      const rows = await reads.query<{ id: number; replica: boolean }>(
        'select id, pg_is_in_recovery() as replica from notes where id = 100',
      );
      expect(rows).toEqual([{ id: 100, replica: false }]);
      await until('resting', () => reads.query(WHERE));
      await eventually('a replica that is known to be behind', () =>
        reads.states[0]?.reason === 'behind' ? true : undefined,
      );
      await diagnosed(
        servers.standby.url('postgres'),
        'warning',
        `127.0.0.1:${servers.standby.port} is more than 250 ms behind the primary.`,
      );
    } finally {
      await tell(servers.standby, 'select pg_wal_replay_resume()');
    }
    await until('replica', () => reads.query(WHERE));
    await diagnosed(servers.standby.url('postgres'), 'fine', 'is up to date with the primary.');
  });

  test('that blocks replaying, or takes too long at the replica, is answered by the leader', async () => {
    const lasting = () =>
      reads.query<{ replica: boolean }>(
        `select pg_is_in_recovery() as replica from notes cross join lateral (
           select case when pg_is_in_recovery() then pg_sleep(60) end) s where id = 1`,
      );
    const told = await until('conflict', async () => {
      const reading = lasting();
      await Promise.race([
        reading,
        eventually('the read at the standby', async () => {
          const [row] = await tell(
            servers.standby,
            `select 1 from pg_stat_activity where query like '%pg_sleep(60)%' and state = 'active' and pid <> pg_backend_pid()`,
          );
          return row && true;
        }),
      ]);
      await leader.script('alter table notes add column more integer; alter table notes drop column more');
      return reading;
    });
    expect(told).toEqual([{ replica: false }]);
    expect(await until('slow', lasting)).toEqual([{ replica: false }]);
    // Neither says anything of the replica.
    await until('replica', () => reads.query(WHERE));
  });

  test('that no server can answer fails as at the leader', async () => {
    await until('replica', () => reads.query(WHERE));
    await expect(reads.query('select nothing')).rejects.toThrow('"nothing" does not exist');
  });
});

describe('a server', () => {
  test.each([
    ['another cluster', async () => serverUrl(), 'belongs to another cluster'],
    ['primary', async () => servers.leader.url('postgres'), 'is the primary at present'],
  ] as const)('that is %s is not read from', async (reason, url, says) => {
    await examined(await url(), reason);
    await diagnosed(await url(), 'warning', `${says}.`);
  });

  test('that takes connections and says nothing is not waited for', async () => {
    using silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const url = `postgres://somebody:secret@127.0.0.1:${silent.port}/posthorn`;
    await examined(url, 'away');
    await diagnosed(url, 'warning', `127.0.0.1:${silent.port} does not answer.`);
  });

  test('may be the primary beside others, as where they change places', async () => {
    const both = servers.standby.url('postgres').replace('@', `@127.0.0.1:${servers.leader.port},`);
    const { port } = servers.standby;
    await diagnosed(
      both,
      'fine',
      `is the primary at present; 127.0.0.1:${port} is up to date with the primary.`,
    );
  });

  test('that stayed on the timeline before is not read from, however far it came', async () => {
    const { timeline } = await new LeaderPosition(leader).read();
    await examined(servers.standby.url('postgres'), 'another timeline', {
      timeline: timeline + 1,
      lsn: '0/0',
    });
  });

  test('is read from by an account that may see nothing of replication', async () => {
    await tell(servers.leader, `create role plain login password 'plain'`);
    const plain = (url: string) => Object.assign(new URL(url), { username: 'plain', password: 'plain' }).href;
    const database = await PostgresDatabase.open(plain(servers.leader.url('postgres')));
    const replica = new Replica(plain(servers.standby.url('postgres')));
    try {
      await eventually('a replica that is fit', async () => {
        await replica.examine(await new LeaderPosition(database).read());
        return true;
      });
    } finally {
      await replica.close();
      await database.close();
    }
  });
});

test('nothing that decides takes what may come from a replica, and every database can be shown from', () => {
  const show = (from: Reads): Reads => from;
  const decide = (by: Pick<Database, 'query'> | Pick<Database, 'read'>) => by;
  expect(show(leader)).toBe(leader as Reads);
  // @ts-expect-error: the type checker of the gate refuses it.
  expect(decide(reads)).toBe(reads);
  // @ts-expect-error: a write is no part of it.
  const write = () => reads.read((orm) => orm.insert);
  expect(write).toBeFunction();
});
