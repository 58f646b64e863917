import { LruMap } from '../../../platform/async/lru-map.ts';
import type { Parameter } from '../../../platform/db/database.ts';
import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import type { FactTable, Kind } from '../../machine/kind.ts';

/**
 * A topic of a fact's rows, to which there may be listeners. Events of emails lie in their turns; unfolding
 * them for webhooks, contacts and campaigns that are not there took a third of what PostgreSQL spent on a
 * turn. So a commit first tries the statement without any of that, which writes nothing where there is a
 * listener, and returns the topics heard. The question is part of the statement: an endpoint that another
 * instance has made is seen by the same look at the database that the fan-out would have taken. The memory of
 * earlier answers only decides which of the two statements comes first.
 */
export interface Topic {
  readonly workspaceId: string;
  readonly livemode: boolean;
  /** The value of the column that gives the topic of the rows. */
  readonly about: string;
}

/**
 * The question for the listeners to a fact: the fact, and SQL of the relation `listening` of the topics that
 * have one.
 */
export interface ListenerQuery {
  readonly fact: FactTable;
  /** Over a relation of topics. */
  listening(topics: string): string;
}

/**
 * The kind's fact with topics, as long as all of its readers name the topics that they listen to, and its
 * rows are also stored where no reader needs them (`kept`).
 */
export function listenerQueryOf(
  { facts, followers = [], children }: Kind,
  kept: readonly string[],
): ListenerQuery | null {
  const fact = facts.find(({ topic }) => topic !== undefined);
  if (!fact || !kept.includes(fact.name)) return null;
  const readers = [
    ...followers.filter((one) => one.fact === fact.name),
    ...children.filter((one) => one.fact === fact.name || one.reads === fact.name),
  ];
  const conditions = new Set<string>();
  for (const { listens } of readers) {
    if (!listens) return null;
    conditions.add(listens('t'));
  }
  const where = [...conditions].join('\n    or ') || 'false';
  return {
    fact,
    listening: (topics) => `select t.workspace_id, t.livemode, t.about from ${topics} t\n  where ${where}`,
  };
}

/** The number of parameters for the topics of a batch. */
export const TOPIC_PARAMETERS = 3;

/** The topics of a batch as a relation; their parameters are numbered from `first`. */
export const topicsSql = (first: number): string => `(
    select w as workspace_id, l::boolean as livemode, a as about
    from unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[]) u(w, l, a) offset 0
  )`;

export const topicParameters = (topics: readonly Topic[]): readonly Parameter[] => [
  topics.map(({ workspaceId }) => workspaceId),
  topics.map(({ livemode }) => String(livemode)),
  topics.map(({ about }) => about),
];

type Row = Readonly<Record<string, unknown>>;

const keyOf = (workspaceId: unknown, livemode: unknown, about: unknown): string =>
  `${livemode} ${about} ${workspaceId}`;

/** The topics of a batch's rows, each once, by its key. */
export function topicsOf({ name, topic = '' }: FactTable, rows: readonly Row[]): ReadonlyMap<string, Topic> {
  const topics = new Map<string, Topic>();
  for (const { workspace_id, livemode, [name]: list } of rows)
    for (const row of (list ?? []) as readonly Row[]) {
      const key = keyOf(workspace_id, livemode, row[topic]);
      if (!topics.has(key))
        topics.set(key, {
          workspaceId: workspace_id as string,
          livemode: livemode as boolean,
          about: row[topic] as string,
        });
    }
  return topics;
}

/**
 * The value that a commit's answer has in place of a child's number where it names a topic with a listener.
 */
export const HEARD = -1;
/** The same where it says that the question took long. */
export const SLOW = -2;
/**
 * By the server's clock, and nearly always a hundredth of it. After the removal of many contacts, their index
 * entries are skipped until a vacuum: of 300,000 it took 150 ms. What is written does not depend on it.
 */
export const SLOW_MS = 20;

/** For this time after a listener was found, the statement with listeners comes first. */
const HEARD_MS = 600_000;
/** The most topics that are remembered, at some 150 octets each. */
const MOST = 20_000;

/**
 * The topics for which a listener was found. A wrong memory costs a statement that writes nothing, or one
 * that unfolds rows for no listener.
 */
export class KnownTopics {
  readonly #until = new LruMap<string, number>({ entries: MOST });

  constructor(private readonly monotonic: MonotonicClock) {}

  /** True when a listener is known for one of these. */
  isHeard(topics: ReadonlyMap<string, Topic>): boolean {
    if (this.#until.size === 0) return false;
    const now = this.monotonic();
    for (const key of topics.keys())
      if ((this.#until.get(key) ?? Number.NEGATIVE_INFINITY) > now) return true;
    return false;
  }

  /** Remembers that the topic has a listener. */
  note({ workspaceId, livemode, about }: Topic): void {
    this.#until.set(keyOf(workspaceId, livemode, about), this.monotonic() + HEARD_MS);
  }
}
