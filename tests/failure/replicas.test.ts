import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Relay } from '../../src/ops/torture/faults/relay.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import { type LeaderAndStandby, startLeaderAndStandby, tell } from '../support/leader-and-standby.ts';

// Two instances on one leader, which read what they show from its standby. What is written through the first
// one is listed by the second at once, whatever the standby is doing.

let servers: LeaderAndStandby;
let relay: Relay;
let writer: RealService;
let reader: RealService;
let metricsPort: number;
let key: string;
let written = 0;

beforeAll(async () => {
  servers = await startLeaderAndStandby();
  relay = await Relay.open(servers.standby.port);
  metricsPort = await freePort();
  const environment = {
    DATABASE_URL: servers.leader.url('postgres'),
    DATABASE_READ_URL: servers.standby.url('postgres', relay.port),
  };
  writer = await startRealService(environment);
  reader = await startRealService({ ...environment, METRICS_PORT: String(metricsPort) });
  key = await writer.keyWith('live', ['*']);
});
afterAll(async () => {
  await reader?.[Symbol.asyncDispose]();
  await writer?.[Symbol.asyncDispose]();
  await relay?.close();
  await servers?.stop();
});

/** Adds an address through one instance and lists it through the other. */
async function writeAndList(): Promise<void> {
  const address = `person-${++written}@customer.example`;
  const added = await writer.ask({ method: 'POST', path: '/v1/suppressions', key, body: { address } });
  expect(added.status).toBe(201);
  const listed = await reader.ask({ path: '/v1/suppressions?limit=1', key });
  expect([listed.status, listed.body.data[0]?.address]).toEqual([200, address]);
}

async function metric(line: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const found = text.split('\n').find((each) => each.startsWith(`${line} `));
  return found === undefined ? 0 : Number(found.slice(line.length + 1));
}

const answeredBy = (answered: string) => metric(`posthorn_replica_reads_total{answered="${answered}"}`);
const isUsable = () => metric(`posthorn_replica_usable{server="127.0.0.1:${relay.port}"}`);

/** Writes and lists until so many lists more were answered by the replica. */
async function listedByReplica(lists: number): Promise<void> {
  const before = await answeredBy('replica');
  await eventually('lists from the replica', async () => {
    await writeAndList();
    return (await answeredBy('replica')) >= before + lists ? true : undefined;
  });
}

/** Writes and lists until the replica is known not to be fit, and some times more. */
async function listedByLeader(): Promise<void> {
  await eventually('a replica that is not read from', async () => {
    await writeAndList();
    return (await isUsable()) === 0 ? true : undefined;
  });
  for (let more = 0; more < 5; more++) await writeAndList();
}

const scans = async (): Promise<number> => {
  const [row] = await tell(
    servers.standby,
    `select (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::integer as scans from pg_stat_user_tables where relname = 'suppressions'`,
  );
  return row?.scans ?? 0;
};

describe('what an instance lists', () => {
  test('comes from the standby, as its own statistics show, with what another instance has just written', async () => {
    const before = await scans();
    await listedByReplica(20);
    // A backend tells its statistics with a statement that ends a second after it last did.
    await eventually(
      'scans at the standby',
      async () => {
        await writeAndList();
        return (await scans()) >= before + 20 ? true : undefined;
      },
      { everyMs: 200 },
    );
  });

  test('comes from the leader while the standby is stopped, and from the standby again', async () => {
    await tell(servers.standby, 'select pg_wal_replay_pause()');
    await listedByLeader();
    await tell(servers.standby, 'select pg_wal_replay_resume()');
    await listedByReplica(1);
  });

  test('comes from the leader while nothing comes back from the standby', async () => {
    relay.freeze();
    await listedByLeader();
    relay.thaw();
    await listedByReplica(1);
  });

  test('comes from the leader while the standby is gone', async () => {
    await servers.standby.strike();
    await listedByLeader();
    await servers.standby.up();
    await listedByReplica(1);
  });

  test('comes from the leader once the standby has been promoted, and so knows nothing new', async () => {
    await tell(servers.standby, 'select pg_promote()');
    await listedByLeader();
    await eventually('a line of the log that says why', () =>
      reader.logged().includes('"reason":"no replica"') ? true : undefined,
    );
  });
});
