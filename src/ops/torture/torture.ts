import { type Fault, Faults } from './faults/faults.ts';
import { CampaignRecord } from './judge/campaign-record.ts';
import { FlowRecord } from './judge/flow-record.ts';
import { judge, type Verdict } from './judge/judge.ts';
import { MailRecord, recipientsAt } from './judge/mail-record.ts';
import { type ClientActionCounts, OutsideRecord } from './judge/outside-record.ts';
import { readPerformed } from './judge/performed.ts';
import { CampaignClient } from './load/campaign-client.ts';
import { ChaosClient } from './load/client.ts';
import { FlowClient } from './load/flow-client.ts';
import { MailClient } from './load/mail-client.ts';
import { World, type WorldOptions } from './world.ts';

/** The options of a chaos run. */
export interface TortureOptions extends WorldOptions {
  readonly seconds: number;
  /** Requests in progress at the same time. */
  readonly workers: number;
  /** Ends the faults early when it resolves; the verdict follows all the same. */
  readonly enough?: Promise<unknown>;
}

/** The progress of a run, reported once a second. */
export interface Progress {
  readonly seconds: number;
  readonly acknowledged: number;
  readonly faults: number;
}

/** The verdict of a run, with counts of everything that was exercised. */
export interface Outcome {
  readonly verdict: Verdict;
  readonly faults: ReadonlyMap<Fault, number>;
  readonly repliesSwallowed: number;
  /** Faults of the mail server. */
  readonly sinkFaults: ReadonlyMap<string, number>;
  /** Actions of the client. */
  readonly exercised: Readonly<ClientActionCounts>;
  /** The last output of each instance. */
  readonly output: readonly string[];
}

/**
 * Runs instances of the service under faults, on a PostgreSQL or an embedded database made for it, and checks
 * the invariants afterwards.
 */
export async function torture(options: TortureOptions, tell: (progress: Progress) => void): Promise<Outcome> {
  await using world = await World.make(options);
  const { instances, relays, server, receiver, sink, records, keys, liveFrom, flowId, leaseMs } = world;
  const { seed, workers } = options;
  const record = new OutsideRecord();
  const urls = instances.map(({ url }) => url);
  const client = new ChaosClient({ urls, keys, liveFrom, record, seed, workers });
  const flowRecord = new FlowRecord();
  const flowClient =
    flowId === null ? null : new FlowClient({ urls, apiKey: keys.live, flowId, record: flowRecord, seed });
  const campaignRecord = new CampaignRecord();
  const campaignClient = campaignClientOf(world, campaignRecord, seed);
  const faults = new Faults({
    instances,
    relays,
    postgres: server,
    leaseMs,
    clocks: options.clocks,
    seed,
  });
  const mailRecord = new MailRecord();
  const recipients = liveFrom === null ? [] : recipientsAt(liveFrom);
  const ports = instances.map(({ inboundPort }) => inboundPort);
  const mailClient =
    liveFrom === null ? null : new MailClient({ ports, recipients, record: mailRecord, seed });
  client.start();
  mailClient?.start();
  flowClient?.start();
  campaignClient?.start();
  faults.start();
  const begin = performance.now();
  let isEnough = false;
  void options.enough?.then(() => {
    isEnough = true;
  });
  while (!isEnough && performance.now() - begin < options.seconds * 1_000) {
    await Bun.sleep(1_000);
    const seconds = Math.round((performance.now() - begin) / 1_000);
    const made = [...faults.counts.values()].reduce((sum, count) => sum + count, 0);
    tell({ seconds, acknowledged: record.acknowledged.size, faults: made });
  }
  await faults.stop();
  await Promise.all([client.stop(), flowClient?.stop(), campaignClient?.stop(), mailClient?.stop()]);
  await mailClient?.finish();
  if (world.settles) await Promise.all([flowClient?.finish(), campaignClient?.finish()]);
  await world.settled();
  // The embedded database is read itself, and not a copy of it.
  if (options.embedded) await Promise.all(instances.map((instance) => instance.end('SIGTERM')));
  const performed = readPerformed(records);
  return {
    verdict: await judge(world.where, {
      record,
      flowRecord,
      campaignRecord: campaignClient && campaignRecord,
      handed: liveFrom === null ? null : { record: mailRecord, domain: liveFrom },
      performed,
      received: options.webhooks ? receiver.received : null,
      taken: options.live ? sink.taken : null,
    }),
    faults: faults.counts,
    repliesSwallowed: relays.reduce((sum, { swallowed }) => sum + swallowed, 0),
    sinkFaults: sink.faults,
    exercised: record.exercised,
    output: instances.map(({ output }) => output),
  };
}

function campaignClientOf(
  { instances, keys, liveFrom, audienceId }: World,
  record: CampaignRecord,
  seed: number,
): CampaignClient | null {
  if (liveFrom === null || audienceId === null) return null;
  const urls = instances.map(({ url }) => url);
  return new CampaignClient({
    urls,
    apiKey: keys.live,
    audienceId,
    from: `torture@${liveFrom}`,
    record,
    seed,
  });
}
