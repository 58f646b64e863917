import { Heap } from './heap.ts';

/**
 * The time for which a thread keeps a core that others wait for, in microseconds: a tick of Linux at 250 Hz.
 * Work that arrives meanwhile is then done at once, so that batches are larger where cores are scarce.
 */
const SLICE_US = 4_000;

interface Timer {
  readonly at: number;
  readonly nth: number;
  readonly done: () => void;
}

/** The time of a simulation, and what happens at which moment. */
export class Timeline {
  #now = 0;
  #count = 0;
  readonly #timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.nth < b.nth));

  /** Microseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  after(us: number, done: () => void): void {
    this.#timers.push({ at: this.#now + us, nth: this.#count++, done });
  }

  /** Has happen what comes next; false when nothing does. */
  step(): boolean {
    const next = this.#timers.pop();
    if (!next) return false;
    this.#now = next.at;
    next.done();
    return true;
  }
}

interface Job {
  /** The thread that it is for. */
  readonly owner: object;
  left: number;
  readonly done: () => void;
}

interface Core {
  /** Its present owner. */
  owner: object | null;
  sliceLeft: number;
  /** The owner's next job; set while the job before it ends. */
  next: Job | null;
}

/** Some cores. Threads take turns of a slice; one that has nothing to do gives its core away. */
export class Machine {
  readonly #cores: Core[];
  #free: Core[];
  #ending: Core | null = null;
  #waiting: Job[] = [];
  #at = 0;
  #busy = 0;

  constructor(
    private readonly time: Timeline,
    readonly cores: number,
  ) {
    this.#cores = Array.from({ length: cores }, () => ({ owner: null, sliceLeft: 0, next: null }));
    this.#free = [...this.#cores];
  }

  /** Core time that was used, in microseconds. */
  get busy(): number {
    return this.#busy;
  }

  /** Runs a thread for so many microseconds of a core. It must not run already. */
  run(us: number, done: () => void, owner: object = {}): void {
    const job = { owner, left: us, done };
    if (this.#ending?.owner === owner) {
      this.#ending.next = job;
      return;
    }
    const core = this.#free.pop();
    if (core) this.#give(core, job);
    else this.#waiting.push(job);
  }

  #give(core: Core, job: Job): void {
    core.owner = job.owner;
    core.sliceLeft = SLICE_US;
    this.#work(core, job);
  }

  #work(core: Core, job: Job): void {
    const us = Math.min(job.left, core.sliceLeft);
    this.time.after(us, () => {
      this.#busy += us;
      core.sliceLeft -= us;
      job.left -= us;
      if (job.left > 1e-9) return this.#yield(core, job);
      this.#ending = core;
      job.done();
      this.#ending = null;
      const { next } = core;
      core.next = null;
      if (next) return core.sliceLeft > 0 ? this.#work(core, next) : this.#yield(core, next);
      const other = this.#take();
      if (other) return this.#give(core, other);
      core.owner = null;
      this.#free.push(core);
    });
  }

  /** The slice is over. */
  #yield(core: Core, job: Job): void {
    const other = this.#take();
    if (other) this.#waiting.push(job);
    this.#give(core, other ?? job);
  }

  #take(): Job | undefined {
    const job = this.#waiting[this.#at];
    if (!job) return undefined;
    this.#at++;
    if (this.#at === this.#waiting.length) {
      this.#waiting.length = 0;
      this.#at = 0;
    }
    return job;
  }
}

interface Task {
  readonly us: number;
  readonly done: () => void;
}

/**
 * A thread with an event loop: what has come by the beginning of a turn is done one after the other, and then
 * the turn ends.
 */
export class Thread {
  #isBusy = false;
  #busy = 0;
  #waiting: Task[] = [];
  #turn: Task[] = [];
  #at = 0;

  constructor(
    private readonly machine: Machine,
    private readonly turnEnds: () => void = () => {},
  ) {}

  /** The time that it has worked, in microseconds of a core. */
  get busy(): number {
    return this.#busy;
  }

  run(us: number, done: () => void = () => {}): void {
    this.#waiting.push({ us, done });
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#next();
  }

  #next(): void {
    if (this.#at === this.#turn.length) {
      if (this.#at > 0) this.turnEnds();
      [this.#turn, this.#waiting, this.#at] = [this.#waiting, [], 0];
    }
    const task = this.#turn[this.#at++];
    if (!task) {
      this.#at = 0;
      this.#isBusy = false;
      return;
    }
    this.#busy += task.us;
    const ends = () => {
      task.done();
      this.#next();
    };
    this.machine.run(task.us, ends, this);
  }
}
