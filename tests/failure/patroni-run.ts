import { findPrograms } from '../../src/ops/torture/postgres-programs.ts';
import { isDoneWithin } from '../../src/platform/async/deadline.ts';
import { eventually } from '../support/eventually.ts';
import { PatroniCluster } from './patroni-cluster.ts';
import { compare, type Left, PatroniLoad } from './patroni-load.ts';
import type { PatroniNode } from './patroni-node.ts';

/** The ways in which a leader is lost. */
export const LOSSES = ['kill', 'machine', 'switchover', 'freeze'] as const;
export type Loss = (typeof LOSSES)[number];

/** The time that a frozen leader stays frozen: longer than its lock. */
const FROZEN_MS = 25_000;

export interface PatroniRunPlan {
  readonly failovers: number;
  /** They take turns. */
  readonly losses: readonly Loss[];
  readonly isSynchronous: boolean;
  readonly isStrict: boolean;
  /** The program `patroni`. */
  readonly patroni: string;
  say(line: string): void;
}

/** The result of one failover. */
export interface Failover {
  readonly loss: Loss;
  /**
   * Milliseconds from the loss to the first acknowledged email after it, and to the new leader by Patroni's
   * word.
   */
  readonly firstMs: number;
  readonly leaderMs: number;
  /** Acknowledged emails that are gone since. */
  readonly gone: number;
  /** True where Patroni went back to an earlier timeline, and so undid what the new leader had committed. */
  readonly isUndone: boolean;
}

/** The result of a run. */
export interface PatroniReport {
  readonly acknowledged: number;
  readonly gone: number;
  readonly doubled: number;
  readonly doubledEvents: number;
  readonly failovers: readonly Failover[];
  /** The number of answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Nodes that had to be made again since Patroni did not bring them back. */
  readonly renewed: number;
}

/** Three nodes and two instances under load, for as long as the cluster can be trusted. */
interface World {
  readonly cluster: PatroniCluster;
  readonly load: PatroniLoad;
}

async function startWorld({ patroni, isSynchronous, isStrict }: PatroniRunPlan): Promise<World> {
  const cluster = await PatroniCluster.start({
    patroni,
    isSynchronous,
    isStrict,
    programs: findPrograms(null),
  });
  try {
    const load = await PatroniLoad.start(cluster.url('postgres'));
    await load.progress(200);
    return { cluster, load };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function endWorld({ cluster, load }: World): Promise<void> {
  await load.stop();
  await cluster.stop();
}

/** A leader may be stopped in the midst of a look at it; the next one is looked at then. */
const leftIn = ({ cluster, load }: World): Promise<Left> =>
  eventually(
    'a look at what is left',
    async () => {
      const looking = compare(cluster.leaderUrl(await cluster.leader()), load.acknowledged).catch(
        () => undefined,
      );
      return (await isDoneWithin(30_000, looking)) ? await looking : undefined;
    },
    { withinMs: 300_000 },
  );

/** Lets the leader of three nodes be lost again and again while two instances take emails. */
export async function failOverRepeatedly(plan: PatroniRunPlan): Promise<PatroniReport> {
  const { failovers, losses, say } = plan;
  const done: Failover[] = [];
  const sums = { acknowledged: 0, gone: 0, doubled: 0, doubledEvents: 0, renewed: 0 };
  const statuses = new Map<string, number>();
  let world = await startWorld(plan);
  let gone: ReadonlySet<string> = new Set();
  const close = async (): Promise<void> => {
    const { load } = world;
    await load.finish();
    const left = await leftIn(world);
    sums.acknowledged += load.acknowledged.size;
    sums.gone += left.gone.size;
    sums.doubled += left.doubled;
    sums.doubledEvents += left.doubledEvents;
    for (const [status, count] of load.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
    await endWorld(world);
  };
  try {
    for (let turn = 0; turn < failovers; turn++) {
      const { cluster, load } = world;
      const loss = losses[turn % losses.length] as Loss;
      const measured = await loseLeader(cluster, load, loss);
      const { renewed, isUndone } = await settle(cluster, measured.timeline);
      sums.renewed += renewed;
      // An instance follows no timeline before the latest that it has seen, so that no answer comes from the
      // past.
      if (!isUndone) await load.progress(100);
      const left = await leftIn({ cluster, load });
      const lost = [...left.gone].filter((key) => !gone.has(key)).length;
      gone = left.gone;
      const { firstMs, leaderMs } = measured;
      done.push({ loss, firstMs, leaderMs, gone: lost, isUndone });
      say(
        `${turn + 1} of ${failovers}, ${loss}: leader after ${seconds(leaderMs)}, acknowledged again after ${seconds(firstMs)}; ${load.acknowledged.size} acknowledged, ${lost} gone${isUndone ? '; Patroni has undone the failover' : ''}`,
      );
      if (isUndone) {
        const told = /\S+ takes writes on timeline .*/.exec(load.output());
        say(`The instances say: ${told?.[0] ?? 'nothing of it'}`);
        load.giveUp();
        await close();
        world = await startWorld(plan);
        gone = new Set();
      }
    }
    await close();
    return { ...sums, failovers: done, statuses: Object.fromEntries(statuses) };
  } catch (error) {
    for (const node of world.cluster.nodes) say(`${node.name}:\n${node.log.slice(-3_000)}`);
    say(world.load.output().slice(-4_000));
    await endWorld(world);
    throw error;
  }
}

async function loseLeader(
  cluster: PatroniCluster,
  load: PatroniLoad,
  loss: Loss,
): Promise<Pick<Failover, 'firstMs' | 'leaderMs'> & { readonly timeline: number }> {
  const old = await cluster.leader();
  load.forget();
  const begun = performance.now();
  await lose(cluster, old, loss);
  await cluster.leader(old);
  const leaderMs = performance.now() - begun;
  await load.progress(100);
  const timeline = await cluster.timeline();
  if (loss === 'freeze') {
    await Bun.sleep(Math.max(0, FROZEN_MS - (performance.now() - begun)));
    old.thaw();
  }
  if (loss === 'machine') old.start();
  return { firstMs: load.firstAfter(begun).ms, leaderMs, timeline };
}

async function lose(cluster: PatroniCluster, leader: PatroniNode, loss: Loss): Promise<void> {
  if (loss === 'kill') leader.killPostmaster();
  else if (loss === 'machine') leader.lose();
  else if (loss === 'freeze') leader.freeze();
  else await cluster.switchOver(leader);
}

/**
 * Waits until the cluster is whole, and makes the nodes again that Patroni does not bring back. Ends early
 * where the leader is on another timeline than the failover has begun: its Patroni took the lock back, and
 * may never settle.
 */
async function settle(
  cluster: PatroniCluster,
  begun: number,
): Promise<{ readonly renewed: number; readonly isUndone: boolean }> {
  const undone = async (): Promise<boolean> => {
    const timeline = await cluster.timeline();
    return timeline > 0 && timeline < begun;
  };
  const isSettled = await cluster.whole(90_000, undone).then(
    () => true,
    () => false,
  );
  if (await undone()) return { renewed: 0, isUndone: true };
  if (isSettled) return { renewed: 0, isUndone: false };
  const broken = await cluster.broken();
  for (const node of broken) node.renew();
  await cluster.whole(180_000);
  return { renewed: broken.length, isUndone: false };
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
