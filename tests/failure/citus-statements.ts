import { DISTRIBUTED } from '../../src/platform/db/distribution/catalogue.ts';

/** The most that one statement asked of the nodes. */
export interface SeenStatement {
  /** The step of the walk at that moment. */
  readonly during: string;
  readonly text: string;
  readonly shards: number;
  readonly times: number;
}

/**
 * The settings by which a coordinator logs enough that `NodeStatements` sees which shards each statement goes
 * to.
 */
export const LOGGING: Readonly<Record<string, string>> = {
  'citus.log_remote_commands': 'on',
  'citus.log_local_commands': 'on',
  log_min_messages: 'notice',
  log_min_error_statement: 'notice',
};

/** Fields of a record end with a character that no statement has. */
export const LOG_PREFIX = '\u0001%p\u0002%v\u0002';

const TABLES = DISTRIBUTED.map(({ table }) => table).join('|');
/** The name of a shard: the table, its partition if it has one, and the number of the shard. */
const SHARD = new RegExp(`\\b((?:${TABLES})(?:_\\d{8}|_default)?)_(\\d{6,})\\b`, 'g');

interface Execution {
  readonly during: string;
  readonly shards: Map<string, Set<string>>;
}

/** Reads the log of a coordinator, and counts the shards that each statement goes to. */
export class NodeStatements {
  /** The current step, for all later log lines. */
  during = 'the start';
  readonly failed = new Map<string, number>();
  readonly #seen = new Map<string, SeenStatement>();
  /** By process: what its statement went to so far. */
  readonly #running = new Map<string, { readonly transaction: string; readonly execution: Execution }>();
  readonly #complained = new Map<string, string>();
  #rest = '';

  /** Takes what was logged, in whatever pieces it comes. */
  readonly take = (text: string): void => {
    const records = (this.#rest + text).split('\u0001');
    this.#rest = records.pop() ?? '';
    for (const record of records) this.#read(record);
  };

  /** Those that went to more than one shard, the widest first. */
  get spread(): readonly SeenStatement[] {
    return [...this.#seen.values()]
      .filter(({ shards }) => shards > 1)
      .toSorted((a, b) => b.shards - a.shards || b.times - a.times);
  }

  get seen(): number {
    return this.#seen.size;
  }

  #read(record: string): void {
    const [pid = '', transaction = '', message = ''] = record.split('\u0002');
    if (/^(NOTICE|LOG):\s+(issuing|executing the command locally)/.test(message)) {
      const { shards } = this.#executionOf(pid, transaction);
      for (const [, table = '', shard = ''] of message.matchAll(SHARD)) {
        const known = shards.get(table) ?? new Set();
        shards.set(table, known.add(shard));
      }
    } else if (/^(ERROR|FATAL|PANIC):/.test(message))
      this.#complained.set(pid, message.split('\n')[0]?.trim() ?? '');
    else if (message.startsWith('STATEMENT:')) this.#ended(pid, headOf(message.slice('STATEMENT:'.length)));
  }

  #executionOf(pid: string, transaction: string): Execution {
    const running = this.#running.get(pid);
    if (running?.transaction === transaction) return running.execution;
    const execution = { during: this.during, shards: new Map<string, Set<string>>() };
    this.#running.set(pid, { transaction, execution });
    return execution;
  }

  #ended(pid: string, text: string): void {
    const complaint = this.#complained.get(pid);
    if (complaint !== undefined) {
      this.#complained.delete(pid);
      const key = `${complaint} · ${text}`;
      this.failed.set(key, (this.failed.get(key) ?? 0) + 1);
    }
    const execution = this.#running.get(pid)?.execution;
    if (!execution) return;
    const shards = Math.max(0, ...[...execution.shards.values()].map(({ size }) => size));
    const before = this.#seen.get(text);
    this.#seen.set(text, {
      during: before?.during ?? execution.during,
      text,
      shards: Math.max(shards, before?.shards ?? 0),
      times: (before?.times ?? 0) + 1,
    });
  }
}

/** The beginning of a statement on one line. */
const headOf = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 160);
