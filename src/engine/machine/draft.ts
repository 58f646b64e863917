import { mintId } from '../../platform/db/ids.ts';
import { WHOLE_CALL } from '../../platform/db/stored-replies.ts';
import { leanContext } from '../store/statements/lean-context.ts';
import type { Decider, Step } from './decide.ts';
import {
  type Actor,
  type ActorEvent,
  type Effect,
  type EffectMeaning,
  type FactRows,
  type Kind,
  stateOf,
} from './kind.ts';
import type { Claim } from './result.ts';
import { wakeAtOf } from './timing.ts';

/** An order that a commit released: I/O to perform now. */
export interface Order {
  readonly kind: string;
  readonly actor: Actor;
  readonly effect: Effect;
  /**
   * The data that the spawner had at hand (a message just accepted); undefined when the actor came from the
   * database. A performer that lets the order wait may drop it, and reads it when the order's turn has come.
   */
  payload?: unknown;
  /**
   * No caller waits for the order, as its claim or its performer says: its outcome is written apart from
   * outcomes that callers wait for.
   */
  isBulk?: boolean;
}

/** The result of one actor's events of a batch, before anything is written. */
export interface Draft {
  readonly before: Actor | null;
  readonly after: Actor;
  readonly steps: readonly Step[];
  readonly effects: readonly Effect[];
  readonly outbox: readonly OutboxEvent[];
  readonly claim: Claim | null;
  readonly payload?: unknown;
  /** The process that claims the actor carries out its orders. */
  readonly isLeft?: boolean;
}

/** One draft as a row of the statements' input: the actor's new columns and all it brings along. */
export function inputRow(kind: Kind, draft: Draft): Record<string, unknown> {
  const { after, outbox, claim, steps } = draft;
  const state = stateOf(after.snapshot);
  const context = after.snapshot.context as never;
  const row: Record<string, unknown> = {
    id: after.id,
    workspace_id: after.workspaceId,
    livemode: after.livemode,
    state,
    context: kind.life ? leanContext(kind.life, draft) : context,
    timers: Object.keys(after.timers).length > 0 ? after.timers : null,
    wake_at: wakeAtOf(kind, after),
    steps: kind.life ? steps.map(packedStep) : steps,
  };
  for (const column of kind.derived) row[column.name] = column.of(context, state);
  addFacts(kind, draft, row);
  if (outbox.length > 0)
    row.outbox = outbox.map(({ id, kind: to_kind, to, event }) => ({ id, to_kind, to_id: to, event }));
  return claim ? { ...row, ...claimColumns(claim, state, context, steps.at(-1)?.at ?? 0) } : row;
}

/**
 * A step in the order of the view that shows it by name (`life_steps`): the names were half of a journal's
 * size.
 */
const packedStep = ({ event, from, to, at, attempt, effects }: Step): readonly unknown[] => [
  event,
  from,
  to,
  at,
  attempt,
  effects,
];

const claimColumns = (
  claim: Claim,
  state: string,
  context: unknown,
  at: number,
): Record<string, unknown> => ({
  idem_workspace_id: claim.scope.workspaceId,
  idem_livemode: claim.scope.livemode,
  idem_key: claim.key,
  idem_item: claim.item ?? WHOLE_CALL,
  idem_fingerprint: claim.fingerprint,
  idem_status: claim.status,
  idem_reply: claim.reply(state, context),
  idem_at: new Date(at).toISOString(),
});

/** Adds the rows of the fact tables that a draft's effects turn into. */
function addFacts(kind: Kind, { after, effects, steps }: Draft, row: Record<string, unknown>): void {
  const at = steps.at(-1)?.at ?? 0;
  const named = new Set<string>();
  const addRows = ({ fact, rows: rowsOf }: FactRows<never>, params: unknown): void => {
    const rows = rowsOf(params as never, after, at);
    if (rows.length === 0) return;
    row[fact] = named.has(fact) ? [...(row[fact] as object[]), ...rows] : rows;
    named.add(fact);
  };
  for (const { type, params } of effects) {
    const meaning = meaningOf(kind, type);
    if (!('fact' in meaning)) continue;
    addRows(meaning, params);
    if (meaning.also) addRows(meaning.also, params);
  }
  for (const fact of named) row[fact] = inOrderOfIds(row[fact] as Record<string, unknown>[]);
  for (const { fact, name, isFor } of kind.followers ?? [])
    if (isFor && named.has(fact) && (row[fact] as Record<string, unknown>[]).some(isFor)) row[name] = true;
}

/** Ids of one millisecond are in no order. One actor's facts get theirs ascending, so that the log reads as it happened. */
function inOrderOfIds(rows: readonly Record<string, unknown>[]): readonly object[] {
  if (rows[0]?.id === undefined || isAscending(rows)) return rows;
  const ids = rows.map(({ id }) => id as string).sort();
  return rows.map((row, index) => ({ ...row, id: ids[index] }));
}

const isAscending = (rows: readonly Record<string, unknown>[]): boolean =>
  rows.every(({ id }, index) => index === 0 || (id as string) > (rows[index - 1]?.id as string));

/** An event of a draft for another actor. */
export interface OutboxEvent {
  readonly id: string;
  readonly kind: string;
  readonly to: string;
  readonly event: ActorEvent;
}

/** The events of a draft for other actors; called once, since it mints the ids. */
export function outboxEventsOf(
  kind: Kind,
  { after, effects }: Pick<Draft, 'after' | 'effects'>,
): readonly OutboxEvent[] {
  const outbox: OutboxEvent[] = [];
  for (const { type, params } of effects) {
    const meaning = meaningOf(kind, type);
    if (!('notify' in meaning)) continue;
    const { id, event } = meaning.to(params as never, after);
    outbox.push({ id: mintId('mail', event.at), kind: meaning.notify, to: id, event });
  }
  return outbox;
}

function meaningOf(kind: Kind, effect: string): EffectMeaning {
  const meaning = kind.effects[effect];
  if (!meaning) throw new Error(`${kind.name} gives no meaning to the effect ${effect}.`);
  return meaning;
}

/** The orders among a draft's effects. */
export function ordersOf(kind: Kind, { after, effects, payload }: Draft): Order[] {
  const orders: Order[] = [];
  for (const effect of effects) {
    const meaning = kind.effects[effect.type];
    if (meaning && 'order' in meaning) orders.push({ kind: kind.name, actor: after, effect, payload });
  }
  return orders;
}

/** A new actor's draft. */
export function draftSpawn(
  kind: Kind,
  decider: Decider,
  spawn: {
    readonly id?: string;
    readonly workspaceId: string;
    readonly livemode: boolean;
    readonly definitionId?: string | undefined;
    readonly input: unknown;
  },
  at: number,
): Omit<Draft, 'claim'> {
  const { snapshot, timers, effects, step } = decider.begin(spawn.input, at);
  const after: Actor = {
    id: spawn.id ?? mintId(kind.idPrefix, at),
    workspaceId: spawn.workspaceId,
    livemode: spawn.livemode,
    snapshot,
    timers,
    revision: 1,
    ...(spawn.definitionId === undefined ? {} : { definitionId: spawn.definitionId }),
  };
  return { before: null, after, steps: [step], effects, outbox: outboxEventsOf(kind, { after, effects }) };
}

/** The timers of an actor that are due at that moment, earliest first, as the events XState expects. */
export function dueTimers(actor: Actor, at: number): ActorEvent[] {
  return Object.entries(actor.timers)
    .filter(([, due]) => due <= at)
    .sort(([, a], [, b]) => a - b)
    .map(([type]) => ({ type, at }));
}
