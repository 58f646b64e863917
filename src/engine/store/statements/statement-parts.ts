import type { Parameter } from '../../../platform/db/database.ts';
import { SHARD_KEY } from '../../../platform/db/distribution/catalogue.ts';
import { ON_ONE_SERVER, onNodes, type ShardTerms } from '../../../platform/db/distribution/terms.ts';
import { type ChildSpec, type FactTable, factOf, type Kind } from '../../machine/kind.ts';
import type { PartCheck } from '../../machine/storage.ts';
import { type Column, columnsOf, InputRows } from './input-rows.ts';
import { columnsWith, Forms, type Part, single } from './statement-forms.ts';
import { TOPIC_PARAMETERS, type Topic, topicParameters, topicsSql } from './topics.ts';
import type { WakeWriting } from './wake-at.ts';

/**
 * The input's columns of every actor: its row, its history, its events for others, and the reply to be
 * stored.
 */
const INPUT_COLUMNS =
  columnsOf(`id text, state text, context json, timers json, wake_at timestamptz, steps json, outbox json,
  idem_workspace_id text, idem_livemode boolean, idem_key text, idem_item smallint, idem_fingerprint text, idem_status smallint, idem_reply text,
  idem_at timestamptz`);

/** The columns of a stored reply, as they are inserted. */
export const CLAIM_COLUMNS =
  'idem_workspace_id, idem_livemode, idem_key, idem_item, idem_fingerprint, idem_status, idem_reply, idem_at';

/** The stored reply of a key. */
export const CLAIM: Part = {
  name: 'claim',
  columns: ['idem_key', ...CLAIM_COLUMNS.split(', ').filter((name) => name !== 'idem_key')],
};

/** True when the statement of a fact reads that of another one: a domain that is removed gets no new keys. */
const readsAnother = ({ sql }: FactTable, facts: readonly FactTable[]): boolean => {
  const text = sql?.('own_rows', ON_ONE_SERVER) ?? '';
  return facts.some(({ name }) => new RegExp(`\\b(?:from|join) ${name}\\b`).test(text));
};

/**
 * The optional parts of a batch: the reply of a key, events for others, followers of some rows alone, each
 * fact. Facts that read each other, or are followed by a write that may read them all, are needed together.
 */
export const partsOf = ({ facts, followers = [] }: Kind): readonly Part[] => [
  CLAIM,
  single('outbox'),
  ...followers.filter(({ isFor }) => isFor).map(({ name }) => single(name)),
  ...(facts.some((fact) => fact.followedBy || readsAnother(fact, facts))
    ? []
    : facts.map(({ name }) => single(name))),
];

/** The same for a statement that leaves out the rows of a fact, and so its followers. */
export const partsWithout = (kind: Kind, fact: FactTable): readonly Part[] => {
  const followers = new Set(
    (kind.followers ?? []).flatMap((each) => (each.fact === fact.name ? each.name : [])),
  );
  return partsOf(kind).filter(({ name }) => !followers.has(name));
};

/** Writes the first state of the children of one kind, as JSON. */
export type Template = () => string;

/** A batch's statement and its parameters. */
export interface BoundStatement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** A statement that writes a batch of actors of one kind. */
export interface BatchStatement {
  /** The optional parts of a batch. */
  readonly parts: readonly Part[];
  /**
   * `templates`: the first states of the children, one for each kind of them. `topics`: the topics of the
   * batch, for a statement that asks for listeners.
   */
  prepare(
    rows: readonly Readonly<Record<string, unknown>>[],
    tag: number,
    templates: readonly Template[],
    topics?: readonly Topic[],
  ): BoundStatement;
}

/** The ingredients of a form of a statement. */
interface FormInput {
  readonly input: string;
  readonly has: PartCheck;
  /** Which of its parts are read in the statement, and not only written down. */
  readonly reads: PartCheck;
  /** The relation of the batch's topics, if the statement asks for listeners; else empty. */
  readonly topics: string;
  readonly templates: readonly (string | null)[]; // The parameter of each kind of children; null where the form makes none of them.
  readonly bounds: Bounds;
  readonly shard: ShardTerms;
}

interface BatchOptions {
  readonly derived?: Kind['derived'];
  readonly isDistributed?: boolean | undefined;
  /** The fact whose rows are read only by listeners. */
  readonly unheard?: FactTable | null;
}

/** The commit's tag. */
export const TAG = '$2::integer';

/**
 * $1 is the machine's version, $2 the commit's tag; then come the rows, the templates of children, the topics
 * of the batch if the statement asks for listeners, the lowest and the highest id of the batch if it asks for
 * them, and its workspaces where the tables are distributed.
 */
export function batchStatement(
  kind: Kind,
  parts: readonly Part[],
  columns: readonly Column[],
  write: (writing: FormInput) => string,
  { derived = kind.derived, isDistributed = false, unheard = null }: BatchOptions = {},
): BatchStatement {
  const all = [
    ...INPUT_COLUMNS,
    ...derived,
    ...kind.facts.map(({ name }) => ({ name, type: 'json' })),
    ...columns,
  ];
  const forms = new Forms(parts, (has) => {
    const input = new InputRows(columnsWith(all, parts, has), 3);
    let next = input.next;
    const isRead: PartCheck = (part) => has(part) && part !== unheard?.name;
    const templates = kind.children.map(({ fact, reads = fact }) =>
      isRead(fact) && isRead(reads) ? `$${next++}` : null,
    );
    const topics = unheard && has(unheard.name) ? topicsSql(next) : '';
    if (topics) next += TOPIC_PARAMETERS;
    const bounds = { lowest: `$${next}::text`, highest: `$${next + 1}::text` };
    const text = (shard: ShardTerms) =>
      write({ input: input.sql, has, reads: isRead, topics, templates, bounds, shard });
    const isBounded = text(ON_ONE_SERVER).includes(bounds.lowest);
    const asks = topics !== '';
    if (!isDistributed)
      return { sql: text(ON_ONE_SERVER), input, templates, asks, isBounded, isPlaced: false };
    const workspaces = `$${next + (isBounded ? 2 : 0)}::text[]`;
    const sql = text(onNodes(workspaces));
    return { sql, input, templates, asks, isBounded, isPlaced: sql.includes(workspaces) };
  });
  return {
    parts,
    prepare(rows, tag, given, topics = []) {
      const { sql, input, templates, asks, isBounded, isPlaced } = forms.for(rows);
      const parameters = [
        kind.version,
        tag,
        ...input.parameters(rows),
        ...given.flatMap((write, place) => (templates[place] === null ? [] : write())),
        ...(asks ? topicParameters(topics) : []),
        ...(isBounded ? boundsOf(rows.map(({ id }) => id as string)) : []),
        ...(isPlaced ? [[...new Set(rows.map((row) => row[SHARD_KEY] as string))]] : []),
      ];
      return { sql, parameters };
    },
  };
}

/** The parameters of a statement that hold the lowest and the highest id of a batch. */
export interface Bounds {
  readonly lowest: string;
  readonly highest: string;
}

export function boundsOf(ids: readonly string[]): readonly [lowest: string, highest: string] {
  let [lowest = '', highest = ''] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  return [lowest, highest];
}

/** Something for each item, one behind the other. */
export const each = <Item>(items: readonly Item[], write: (item: Item) => string) =>
  items.map(write).join('');

/** The derived columns, each behind a comma. */
export const derivedNames = (kind: Kind): string => each(kind.derived, ({ name }) => `, ${name}`);
/** The columns of an actor that its facts read, each behind a comma. */
export const actorColumnsForFacts = (kind: Kind, from: string): string =>
  each(kind.actorColumnsForFacts, (name) => `, ${from}.${name}`);

/**
 * The side effects of the actors in `changed`. All that an actor brings along is in its own row of the input:
 * lists are unfolded from it, since joining them back by id is a nested loop over both for want of statistics
 * (4 ms instead of 0.1 at 64 actors, and quadratic). Actors without a list are left out beforehand: unfolding
 * nothing costs a call as well.
 */
export const sideEffectCtes = (
  kind: Kind,
  changed: string,
  { has, templates, shard }: Pick<FormInput, 'has' | 'templates' | 'shard'>,
  wake: WakeWriting,
  { storesReply = 'idem_key is not null', actors = null }: SideEffectOptions = {},
): string =>
  `${
    has(CLAIM.name)
      ? `, claimed as (
  insert into idempotency_keys (workspace_id, livemode, key, item, fingerprint, status, reply, created_at)
  select ${CLAIM_COLUMNS} from ${changed} where ${storesReply}
  order by idem_workspace_id, idem_livemode, idem_key, idem_item
)`
      : ''
  }${
    has('outbox')
      ? `, outbox_written as (
  insert into actor_outbox (id, to_kind, to_id, event)
  select m.id, m.to_kind, m.to_id, m.event
  from ${changed} c cross join lateral json_to_recordset(c.outbox) as m(id text, to_kind text, to_id text, event json)
  where c.outbox is not null
)`
      : ''
  }${each(factsWith(kind, has), (fact) => {
    const isFollowed = (kind.followers ?? []).some((follower) => follower.fact === fact.name);
    const shared = isFollowed && !shard.isDistributed ? unfoldedName(fact) : null;
    const source =
      shared ?? factSource(kind, fact, changed, actors === null || fact.readsActor ? actors : NOTHING);
    return `${shared ? `, ${shared} as ${factSource(kind, fact, changed, actors)}` : ''}${
      fact.sql
        ? `, ${fact.name} as (${fact.sql(source, shard)})${fact.followedBy ? `, ${fact.followedBy}` : ''}`
        : ''
    }`;
  })}${each(
    (kind.followers ?? []).filter(({ fact, name, isFor }) => has(fact) && (!isFor || has(name))),
    ({ fact, name, isMaterialized, sql }) => {
      const rows = shard.isDistributed
        ? factSource(kind, factOf(kind, fact), changed, actors)
        : unfoldedName(factOf(kind, fact));
      return `, ${name} as ${isMaterialized ? 'materialized ' : ''}(${sql(rows, has)})`;
    },
  )}${kind.children
    .map((child, place) => {
      const template = templates[place];
      return template ? childrenOf(child, place, template, wake, shard) : '';
    })
    .join('')}`;

const factsWith = ({ facts }: Kind, has: PartCheck): readonly FactTable[] =>
  facts.filter(({ name }) => has(name));

interface SideEffectOptions {
  readonly storesReply?: string | undefined;
  /** Joins the actors `a`, where `changed` lacks their columns; null where it has them. */
  readonly actors?: string | null;
}

const NOTHING = ''; // No columns of the actors are asked for.

/**
 * The CTE in which the rows of a fact are unfolded for all readers, which PostgreSQL then does once. Where
 * tables are distributed each reader unfolds what it needs: a query that joins no inserted rows stays one of
 * the coordinator.
 */
const unfoldedName = ({ name }: FactTable): string => `${name}_rows`;

/**
 * The rows of a fact, with the columns of their actors: from `changed` itself (null), from the actors that
 * are joined, or without.
 */
function factSource(
  kind: Kind,
  { name, columns }: FactTable,
  changed: string,
  actors: string | null,
): string {
  const columnsOfActor = actors === NOTHING ? '' : actorColumnsForFacts(kind, actors === null ? 'c' : 'a');
  return `(select f.*, c.id as actor, c.workspace_id, c.livemode${columnsOfActor}
    from ${changed} c ${actors ? `${actors} ` : ''}cross join lateral json_to_recordset(c.${name}) as f(${columns})
    where c.${name} is not null)`;
}

const childrenOf = (
  { kind, sql, performedAtOnce }: ChildSpec,
  place: number,
  template: string,
  wake: WakeWriting,
  shard: ShardTerms,
): string => {
  const isKept = kind.keepsChildren === true && performedAtOnce && !shard.isDistributed;
  const keeping = `keeping_${place}`;
  const wakeAt = wake.at('wake_at');
  return `, template_${place}_read as materialized (
  select * from json_to_record(${template}::text::json)
    as s(state text, context json, timers json, wake_at timestamptz, steps json, machine_version smallint, kept_by integer)
)${
    isKept
      ? `, ${keeping} as materialized (
  select id from instances where open and id = (select kept_by from template_${place}_read) for key share
)`
      : ''
  }, template_${place} as materialized (
  select state, context, timers, ${isKept ? `case when exists (select from ${keeping}) then null else ${wakeAt} end` : wakeAt} as wake_at, steps, machine_version,
    ${wake.earliest} as not_before, ${isKept ? `(select id from ${keeping})` : 'null::integer'} as kept_by
  from template_${place}_read
), children_${place} as (${sql(`template_${place}`, shard)}), children_journaled_${place} as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps${shard.column(kind.journal)})
  select b.id, 1, ${TAG}, s.steps${shard.value(kind.journal, 'b')} from children_${place} b cross join template_${place} s
)`;
};

/** The children to be performed at once, in the columns of an answer: `child` gives their kind. */
export const answeredChildren = ({ children }: Kind, has: PartCheck, columns: string): string =>
  children
    .map(({ performedAtOnce, brings = false, fact }, place) =>
      performedAtOnce && has(fact)
        ? `\nunion all select ${columns.replace('child', String(place)).replace('brought', brings ? 'brought' : 'null')} from children_${place}`
        : '',
    )
    .join('');
