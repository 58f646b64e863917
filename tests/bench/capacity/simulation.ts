import { randomFrom } from '../../../src/ops/torture/random.ts';
import { COMMIT_LIMITS } from '../../../src/platform/async/batcher.ts';
import { Gathering } from '../../../src/platform/async/gathering.ts';
import type { Cost } from './costs.ts';
import { Machine, Thread, Timeline } from './processors.ts';
import type { ServiceTimes } from './times.ts';

/** The load on the simulated installation. */
export interface Scenario {
  readonly kind: 'accepted' | 'life';
  /** Connections that send, wait for the reply and send again, over all instances. */
  readonly connections: number;
  readonly instances: number;
  readonly emails: number;
  /** The placement: everything on so many cores, or each part on a separate machine. */
  readonly machines: Together | Apart;
  readonly seed?: number;
}

interface Together {
  readonly together: number;
  /** The number of these cores that other work takes, on the average. */
  readonly others?: number;
}

/** The client has as many cores as it needs. */
interface Apart {
  readonly coresOfInstance: number;
  readonly coresOfPostgres: number;
  /** From one machine to another and back, in microseconds. */
  readonly roundTrip: number;
}

/** The result. `busy`: the share of it that was in use, from 0 to 1. */
export interface Simulated {
  readonly perSecond: number;
  /** Processor time of instances and backends an email, in microseconds. */
  readonly cpu: number;
  /** Writes a commit. */
  readonly batch: number;
  readonly busy: {
    readonly mainThread: number;
    readonly cores: number;
    readonly postgres: number;
    readonly flush: number;
  };
}

/** Batches of new actors under way at once (src/engine/runtime/spawn-queue.ts); of events there is one. */
const INSERTS_AT_ONCE = 2;
/**
 * Shares of the service's work on an email, which no meter separates: before the batch (reading the request,
 * deciding), in putting the batch together, and when it has returned (answering). What a batch takes for
 * itself is spent half before and half after.
 */
const PARTS = { request: 0.6, prepare: 0.2, settle: 0.2 } as const;
/** Outcomes are decided when their batch is put together. */
const OUTCOME_PARTS = { prepare: 0.7, settle: 0.3 } as const;

/** The time for which other work keeps a core at once, in microseconds. */
const OTHERS_US = 4_000;

/** The cost of one write: of its batch, and of each email in it. */
interface Step {
  readonly service: Cost;
  readonly postgres: Cost;
}

/**
 * The disk under the WAL: one flush at a time, which takes everything along that was written before it began.
 */
class Wal {
  #isFlushing = false;
  #waiting: (() => void)[] = [];
  flushing = 0;

  constructor(
    private readonly time: Timeline,
    private readonly duration: () => number,
  ) {}

  flushed(done: () => void): void {
    this.#waiting.push(done);
    if (!this.#isFlushing) this.#flush();
  }

  #flush(): void {
    const taken = this.#waiting.splice(0);
    if (taken.length === 0) return;
    this.#isFlushing = true;
    const us = this.duration();
    this.flushing += us;
    this.time.after(us, () => {
      this.#isFlushing = false;
      for (const done of taken) done();
      this.#flush();
    });
  }
}

interface Shared {
  readonly time: Timeline;
  readonly wal: Wal;
  inDatabase(us: number, done: () => void): void;
  /** Half the way between an instance and PostgreSQL. */
  readonly wayUs: number;
}

/**
 * A queue in front of commits, as src/platform/async/batcher.ts has it; when a batch leaves is decided by the
 * service's own rule.
 */
class Committer {
  readonly #gathering = new Gathering();
  #waiting = 0;
  #running = 0;
  #underWay = 0;
  /** Counts the times that a batch waited for more, so that only the last one has it leave. */
  #patience = 0;
  #isPatient = false;
  batches = 0;

  constructor(
    private readonly shared: Shared,
    private readonly instance: Thread,
    private readonly width: number,
    private readonly step: Step,
    private readonly parts: { readonly prepare: number; readonly settle: number },
    private readonly committed: (emails: number) => void,
  ) {}

  push(): void {
    this.#waiting++;
  }

  /** At the end of a turn of the event loop, and when a batch has returned. */
  leave(): void {
    if (this.#waiting === 0 || this.#running >= this.width) return;
    const ms = this.#gathering.patience(this.#waiting, this.#underWay);
    if (ms === 0 || this.#waiting >= COMMIT_LIMITS.batchItems) return this.#leaveNow();
    if (this.#isPatient) return;
    this.#isPatient = true;
    const patience = ++this.#patience;
    this.shared.time.after(ms * 1_000, () => {
      if (this.#isPatient && patience === this.#patience) this.#leaveNow();
    });
  }

  #leaveNow(): void {
    this.#isPatient = false;
    while (this.#running < this.width && this.#waiting > 0) {
      const size = Math.min(this.#waiting, COMMIT_LIMITS.batchItems);
      this.#waiting -= size;
      this.#gathering.left();
      this.#carryOut(size);
    }
  }

  #carryOut(size: number): void {
    const { time, wal, inDatabase, wayUs } = this.shared;
    const { service, postgres } = this.step;
    this.#running++;
    this.#underWay += size;
    this.batches++;
    const begun = time.now;
    const mine = (part: number) => service.fixed / 2 + service.each * part * size;
    this.instance.run(mine(this.parts.prepare), () => {
      time.after(wayUs, () => {
        inDatabase(postgres.fixed + postgres.each * size, () =>
          wal.flushed(() =>
            time.after(wayUs, () =>
              this.instance.run(mine(this.parts.settle), () => {
                this.#running--;
                this.#underWay -= size;
                this.#isPatient = false;
                this.#gathering.returned((time.now - begun) / 1_000);
                this.committed(size);
                this.leave();
              }),
            ),
          ),
        );
      });
    });
  }
}

/** Simulates a closed loop until so many emails have come to their end. */
export function simulate(times: ServiceTimes, scenario: Scenario): Simulated {
  const { kind, connections, instances, emails, machines } = scenario;
  const random = randomFrom(scenario.seed ?? 1);
  const time = new Timeline();
  const isTogether = 'together' in machines;
  const shared = isTogether ? new Machine(time, machines.together) : null;
  const database = shared ?? new Machine(time, (machines as Apart).coresOfPostgres);
  const wayUs = isTogether ? 0 : machines.roundTrip / 2;
  // Exponential above a third: a disk has a least time, and sometimes takes several times as long.
  const flushUs = () => times.flush * (1 / 3 - (2 / 3) * Math.log(1 - random.next()));
  const wal = new Wal(time, flushUs);
  const inserts: Step =
    kind === 'life'
      ? {
          service: { fixed: times.life.service.fixed, each: times.accepted.service.each },
          postgres: { fixed: times.life.postgres.fixed, each: times.accepted.postgres.each },
        }
      : times.accepted;
  const outcomes: Step = {
    service: {
      fixed: times.life.service.fixed,
      each: Math.max(0, times.life.service.each - times.accepted.service.each),
    },
    postgres: {
      fixed: times.life.postgres.fixed,
      each: Math.max(0, times.life.postgres.each - times.accepted.postgres.each),
    },
  };
  const hosts: Machine[] = [];
  const threads: Thread[] = [];
  const committers: { inserts: Committer; outcomes: Committer }[] = [];
  let [sent, ended, spent] = [0, 0, 0];
  const inDatabase = (us: number, done: () => void) => {
    spent += us;
    database.run(us, done);
  };
  const client = shared ? new Thread(shared) : null;
  // On separate machines clients are no bound, but take their time.
  const inClient = (done: () => void) =>
    client ? client.run(times.client + times.kernel, done) : time.after(times.client + wayUs * 2, done);

  for (let n = 0; n < instances; n++) {
    const host = shared ?? new Machine(time, (machines as Apart).coresOfInstance);
    hosts.push(host);
    const helpers = new Thread(host);
    const thread = new Thread(host, () => {
      queue.inserts.leave();
      queue.outcomes.leave();
    });
    const helping = 1 / times.mainThread - 1;
    const inMain = (us: number, done: () => void) => {
      spent += us;
      thread.run(us * times.mainThread, done);
      if (helping > 0) helpers.run(us * times.mainThread * helping);
    };
    const main = { run: inMain } as Thread;
    const parts = { time, wal, inDatabase, wayUs };
    const next = () => {
      if (sent >= emails) return;
      sent++;
      inClient(() => inMain(inserts.service.each * PARTS.request, () => queue.inserts.push()));
    };
    const queue = {
      inserts: new Committer(parts, main, INSERTS_AT_ONCE, inserts, PARTS, (size) => {
        for (let i = 0; i < size; i++) next();
        if (kind === 'accepted') ended += size;
        else for (let i = 0; i < size; i++) queue.outcomes.push();
        queue.outcomes.leave();
      }),
      outcomes: new Committer(parts, main, 1, outcomes, OUTCOME_PARTS, (size) => {
        ended += size;
      }),
    };
    committers.push(queue);
    threads.push(thread);
    for (let c = n; c < connections; c += instances) next();
    // Work without a request, such as heartbeats and looks at the clock.
    const tick = () => {
      if (ended >= emails) return;
      inMain(times.idle.service / 100, () => {});
      inDatabase(times.idle.postgres / 100, () => {});
      time.after(10_000, tick);
    };
    time.after(10_000 * random.next(), tick);
  }
  const { others = 0 } = isTogether ? machines : {};
  const disturb = () => {
    shared?.run(OTHERS_US, () => {});
    time.after((-Math.log(1 - random.next()) * OTHERS_US) / others, disturb);
  };
  if (others > 0) disturb();
  while (ended < emails && time.step()) {}
  const us = time.now;
  const sum = (of: (n: number) => number) => committers.reduce((all, _, n) => all + of(n), 0);
  const batches = sum((n) => (committers[n]?.inserts.batches ?? 0) + (committers[n]?.outcomes.batches ?? 0));
  return {
    perSecond: (ended * 1e6) / us,
    cpu: spent / emails,
    batch: (emails * (kind === 'life' ? 2 : 1)) / batches,
    busy: {
      mainThread: sum((n) => threads[n]?.busy ?? 0) / us / instances,
      cores: hosts.reduce((all, host) => all + host.busy / host.cores, 0) / us / instances,
      postgres: database.busy / us / database.cores,
      flush: wal.flushing / us,
    },
  };
}
