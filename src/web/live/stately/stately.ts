import type { Step } from '../../../engine/machine/decide.ts';
import type { Draft } from '../../../engine/machine/draft.ts';
import { type Actor, type Kind, stateOf } from '../../../engine/machine/kind.ts';
import { redacted } from '../redact.ts';

/**
 * The version of @statelyai/inspect that these messages follow; its tools recognise a message by `type` and
 * `_version`.
 */
const PROTOCOL = '0.7.2';

interface Snapshot {
  readonly status: 'active' | 'done';
  readonly value: string;
  readonly context: unknown;
}

/** One message of Stately's inspector protocol. */
export type StatelyMessage = {
  readonly sessionId: string;
  readonly rootId: string;
  readonly id: null;
  /** Epoch milliseconds, as text. */
  readonly createdAt: string;
  readonly _version: string;
} & (
  | {
      readonly type: '@xstate.actor';
      readonly name: string;
      readonly definition: string;
      readonly snapshot: Snapshot;
    }
  | { readonly type: '@xstate.event'; readonly event: { readonly type: string } }
  | {
      readonly type: '@xstate.snapshot';
      readonly event: { readonly type: string };
      readonly snapshot: Snapshot;
    }
);

const definitions = new WeakMap<Kind, string>();

/** The configuration of a machine as text, which the tools draw. Functions are written as `{type: name}`. */
function definitionOf(kind: Kind): string {
  const known = definitions.get(kind);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...kind.machine.config, context: undefined }, (_, value: unknown) =>
    typeof value === 'function' ? { type: value.name || 'inline' } : value,
  );
  definitions.set(kind, text);
  return text;
}

const header = (id: string, at: number) => ({
  sessionId: id,
  rootId: id,
  id: null,
  createdAt: String(at),
  _version: PROTOCOL,
});

const snapshotOf = ({ snapshot }: Pick<Actor, 'snapshot'>, value = stateOf(snapshot)): Snapshot => ({
  status: snapshot.status === 'active' ? 'active' : 'done',
  value,
  context: redacted(snapshot.context),
});

/** The message that introduces an actor in its present state. */
export const introduction = (
  kind: Kind,
  actor: Pick<Actor, 'id' | 'snapshot'>,
  at: number,
): StatelyMessage => ({
  type: '@xstate.actor',
  ...header(actor.id, at),
  name: kind.name,
  definition: definitionOf(kind),
  snapshot: snapshotOf(actor),
});

/**
 * Texts rendered for one client and sent to all. The key is the draft, which is soon collected; an actor may
 * be cached for long.
 */
const introductions = new WeakMap<Draft, string>();
const textsOf = new WeakMap<Draft, readonly string[]>();

/** The introduction of an actor that a commit has changed, as text. */
export function introductionText(kind: Kind, draft: Draft, at: number): string {
  const known = introductions.get(draft);
  if (known !== undefined) return known;
  const text = JSON.stringify(introduction(kind, draft.after, at));
  introductions.set(draft, text);
  return text;
}

/** The transitions of a commit, as texts. */
export function newsTexts(kind: Kind, draft: Draft): readonly string[] {
  const known = textsOf.get(draft);
  if (known) return known;
  const texts = news(kind, draft).map((message) => JSON.stringify(message));
  textsOf.set(draft, texts);
  return texts;
}

/** A transition that another instance has committed, as texts; the actor is as it was read after it. */
export function toldTexts(
  actor: Pick<Actor, 'id' | 'snapshot'>,
  move: { readonly event: string; readonly to: string; readonly at: number },
): readonly string[] {
  const event = { type: move.event };
  const isLast = stateOf(actor.snapshot) === move.to;
  const snapshot = isLast ? snapshotOf(actor) : { ...snapshotOf(actor, move.to), status: 'active' as const };
  const messages: readonly StatelyMessage[] = [
    { type: '@xstate.event', ...header(actor.id, move.at), event },
    { type: '@xstate.snapshot', ...header(actor.id, move.at), event, snapshot },
  ];
  return messages.map((message) => JSON.stringify(message));
}

/**
 * The transitions of one actor in a commit. Only its last snapshot is stored, so the earlier ones show the
 * same context.
 */
function news(_kind: Kind, { after, steps }: Draft): StatelyMessage[] {
  return steps.flatMap((step: Step, index) => {
    const event = { type: step.event };
    const isLast = index === steps.length - 1;
    const snapshot = isLast
      ? snapshotOf(after)
      : { ...snapshotOf(after, step.to), status: 'active' as const };
    return [
      { type: '@xstate.event', ...header(after.id, step.at), event },
      { type: '@xstate.snapshot', ...header(after.id, step.at), event, snapshot },
    ];
  });
}
