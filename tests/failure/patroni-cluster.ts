import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { PatroniNode, type PatroniPlan } from './patroni-node.ts';

/** A member as Patroni's `GET /cluster` tells it. */
interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

/**
 * The port from which the system gives out those of outgoing connections: a node that comes back would find
 * its own taken.
 */
const OUTGOING_PORTS = 32_768;
const NODES = ['n1', 'n2', 'n3'];

/** Three nodes of Patroni and an etcd, which is neither killed nor frozen. */
export class PatroniCluster {
  private constructor(
    readonly nodes: readonly PatroniNode[],
    private readonly plan: PatroniPlan,
    private readonly etcd: ChildProcess,
    private readonly home: string,
  ) {}

  static async start(plan: Omit<PatroniPlan, 'etcdPort'>): Promise<PatroniCluster> {
    const home = mkdtempSync(join(tmpdir(), 'posthorn-patroni-'));
    chmodSync(home, 0o755);
    const ports = await lowPorts(2 + 2 * NODES.length);
    const [etcdPort = 0, peerPort = 0, ...rest] = ports;
    const [client, peer] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`];
    const etcd = spawn(
      'etcd',
      [
        '--data-dir',
        join(home, 'etcd'),
        '--log-level',
        'error',
        '--listen-client-urls',
        client,
        '--advertise-client-urls',
        client,
        '--listen-peer-urls',
        peer,
        '--initial-advertise-peer-urls',
        peer,
        '--initial-cluster',
        `default=${peer}`,
      ],
      { stdio: 'ignore', detached: true },
    );
    const whole = { ...plan, etcdPort };
    const nodes = NODES.map(
      (name, place) =>
        new PatroniNode(name, join(home, name), rest[2 * place] ?? 0, rest[2 * place + 1] ?? 0, whole),
    );
    const cluster = new PatroniCluster(nodes, whole, etcd, home);
    // Patroni's servers are children of no process here, and would outlive an interrupted run.
    process.once('exit', () => cluster.#stopNow());
    try {
      await eventually('etcd', async () => ((await fetch(`${client}/health`)).ok ? true : undefined));
      const [first, ...others] = nodes;
      first?.start();
      await cluster.leader();
      for (const node of others) node.start();
      await cluster.whole(120_000);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Of all three, for DATABASE_URL. */
  url(database: string): string {
    return `postgres://postgres:postgres@${this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${database}`;
  }

  /** Of one node alone. */
  leaderUrl({ port }: PatroniNode): string {
    return `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
  }

  /** The node that Patroni says takes the writes, among those that are not left out. */
  async leader(without: PatroniNode | null = null): Promise<PatroniNode> {
    return await eventually(
      'a leader',
      async () => {
        // One that was frozen may still believe in itself: whose the lock is counts as well.
        const owner = (await this.#members(without)).find(({ role }) => role === 'leader');
        const node = this.nodes.find(({ name }) => name === owner?.name);
        if (node === undefined || node === without) return undefined;
        return (await ask(`${node.url}/primary`))?.status === 200 ? node : undefined;
      },
      { withinMs: 180_000, everyMs: 50 },
    );
  }

  /** Has the leader hand over to whomever Patroni chooses. */
  async switchOver(leader: PatroniNode): Promise<void> {
    const answer = await fetch(`${leader.url}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: leader.name }),
    });
    if (!answer.ok) throw new Error(`No switchover: ${answer.status} ${await answer.text()}`);
  }

  /**
   * Waits until all three are members again, one of them the synchronous standby where there is to be one, or
   * until it is over.
   */
  async whole(withinMs = 90_000, isOver: () => Promise<boolean> = async () => false): Promise<void> {
    await eventually(
      'a whole cluster',
      async () => {
        const members = await this.#members();
        const followers = members.filter(({ role }) => role !== 'leader');
        const isWhole =
          members.length === NODES.length &&
          followers.length === NODES.length - 1 &&
          members.every(({ state }) => ['running', 'streaming'].includes(state)) &&
          new Set(members.map(({ timeline }) => timeline)).size === 1 &&
          (!this.plan.isSynchronous || followers.some(({ role }) => role === 'sync_standby'));
        return isWhole || (await isOver()) ? true : undefined;
      },
      { withinMs, everyMs: 250 },
    );
  }

  /** Those that do not follow, by what Patroni tells. */
  async broken(): Promise<readonly PatroniNode[]> {
    const members = await this.#members();
    const isFine = (name: string) =>
      members.some((each) => each.name === name && ['running', 'streaming'].includes(each.state));
    return this.nodes.filter(({ name }) => !isFine(name));
  }

  /** The timeline of the leader: each promotion begins the next. */
  async timeline(): Promise<number> {
    const leader = (await this.#members()).find(({ role }) => role === 'leader');
    return leader?.timeline ?? 0;
  }

  async stop(): Promise<void> {
    const isGone = this.etcd.exitCode !== null || this.etcd.signalCode !== null;
    const gone = isGone ? null : once(this.etcd, 'exit');
    this.#stopNow();
    await gone;
  }

  #stopNow(): void {
    for (const node of this.nodes) node.lose();
    this.etcd.kill('SIGKILL');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  async #members(without: PatroniNode | null = null): Promise<readonly Member[]> {
    for (const node of this.nodes) {
      if (node === without) continue;
      const answer = await ask(`${node.url}/cluster`);
      if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members;
    }
    return [];
  }
}

const ask = (url: string): Promise<Response | null> =>
  fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => null);

async function lowPorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = 15_000 + Math.floor(Math.random() * (OUTGOING_PORTS - 15_000));
    if (!(await isTaken(port))) found.add(port);
  }
  return [...found];
}

async function isTaken(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
