import type { CommitListener } from '../../engine/engine.ts';
import type { Draft } from '../../engine/machine/draft.ts';
import type { Kind } from '../../engine/machine/kind.ts';
import type { Scope } from '../../engine/machine/result.ts';
import { holds, type Permission } from '../../http/auth/permissions.ts';
import type { ChangeNote } from '../../http/module.ts';
import { BEAT_MS, type ChangeMessage } from './model.ts';

/** Shortest time between two messages. */
const TICK_MS = 250;
/** Ids of one resource that a message names; of more it says only that there were some. */
export const MOST_IDS = 50;
/** Other instances commit as well, and their commits are not heard here: so often everything is read again. */
const OTHERS_MS = 10_000;

/** Resources that both environments of a workspace have together. */
const SHARED: ReadonlySet<string> = new Set([
  'domains',
  'workspace',
  'members',
  'billing',
  'suppressions',
  'audit-log',
  'api-keys',
]);

/** A connection that follows what changes in one environment. */
export interface Follower {
  readonly scope: Scope;
  /** The permissions that the follower has now. */
  readonly permissions: readonly Permission[];
  tell(message: ChangeMessage): void;
}

/** The resource that shows a kind of actors, and the permission for it. */
export interface ShownKind {
  readonly kind: { readonly name: string };
  readonly resource: string;
  readonly permission: Permission;
}

interface ChangedIds {
  readonly permission: Permission | null;
  readonly ids: Set<string>;
  /** True once more ids have changed than are named, or one is not known. */
  isBeyond: boolean;
}

/** The changes of one environment since the last message. */
interface Channel {
  readonly scope: Scope;
  readonly followers: Set<Follower>;
  readonly collected: Map<string, ChangedIds>;
}

/** The part of the engine that the feed listens to. */
export interface CommitSource {
  listen(listener: CommitListener): () => void;
}

/**
 * Reports changes to pages. It listens to the engine only while a page follows; a commit then costs a look-up
 * and a place in a set. Its memory is bounded by the followed environments, the resources and the ids that a
 * message names.
 */
export class ChangeFeed {
  readonly #channels = new Map<string, Channel>();
  readonly #kinds: ReadonlyMap<string, ShownKind>;
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #ticks = 0;

  constructor(
    private readonly engine: CommitSource,
    kinds: readonly ShownKind[],
    /** True where other instances may work on the same database. */
    private readonly hasOthers: boolean,
  ) {
    this.#kinds = new Map(kinds.map((shown) => [shown.kind.name, shown]));
  }

  /** Adds a follower until the returned function is called. */
  join(follower: Follower): () => void {
    const { scope } = follower;
    const key = keyOf(scope);
    const channel = this.#channels.get(key) ?? { scope, followers: new Set(), collected: new Map() };
    this.#channels.set(key, channel);
    channel.followers.add(follower);
    if (this.#leave === null) this.#open();
    return () => {
      channel.followers.delete(follower);
      if (channel.followers.size === 0) this.#channels.delete(key);
      if (this.#channels.size === 0) this.stop();
    };
  }

  /** Notes a change that is no commit of the engine: a request has changed a row. */
  note(noted: ChangeNote): void {
    for (const livemode of SHARED.has(noted.resource) ? [true, false] : [noted.scope.livemode]) {
      const channel = this.#channels.get(keyOf({ workspaceId: noted.scope.workspaceId, livemode }));
      if (channel) collect(channel, noted.resource, noted.permission, noted.id);
    }
  }

  /** Stops listening. */
  stop(): void {
    clearInterval(this.#timer);
    this.#leave?.();
    this.#leave = null;
  }

  #open(): void {
    this.#leave = this.engine.listen((kind, drafts) => this.#committed(kind, drafts));
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #committed(kind: Kind, drafts: readonly Draft[]): void {
    const shown = this.#kinds.get(kind.name);
    if (!shown) return;
    const { resource, permission } = shown;
    for (const { after } of drafts)
      this.note({
        scope: { workspaceId: after.workspaceId, livemode: after.livemode },
        resource,
        permission,
        id: after.id,
      });
  }

  #tick(): void {
    this.#ticks++;
    const isBeat = this.#ticks % (BEAT_MS / TICK_MS) === 0;
    const isForOthers = this.hasOthers && this.#ticks % (OTHERS_MS / TICK_MS) === 0;
    for (const { followers, collected } of this.#channels.values()) {
      for (const follower of followers) {
        const message = isForOthers ? EVERYTHING : messageFor(follower, collected);
        if (message) follower.tell(message);
        else if (isBeat) follower.tell(BEAT);
      }
      collected.clear();
    }
  }
}

export const EVERYTHING = { type: 'everything' } as const satisfies ChangeMessage;
const BEAT = { type: 'beat' } as const satisfies ChangeMessage;

function collect(channel: Channel, resource: string, permission: Permission | null, id: string | null): void {
  const known = channel.collected.get(resource) ?? { permission, ids: new Set<string>(), isBeyond: false };
  channel.collected.set(resource, known);
  if (id === null || (known.ids.size >= MOST_IDS && !known.ids.has(id))) known.isBeyond = true;
  else known.ids.add(id);
}

/** The message for a follower, limited to its permissions; null when nothing is left. */
function messageFor(
  { permissions }: Follower,
  collected: ReadonlyMap<string, ChangedIds>,
): ChangeMessage | null {
  const seen = [...collected].filter(
    ([, { permission }]) => permission === null || holds(permissions, permission),
  );
  if (seen.length === 0) return null;
  const changed = seen.map(
    ([resource, { ids, isBeyond }]) => [resource, isBeyond ? null : [...ids]] as const,
  );
  return { type: 'changes', changed: Object.fromEntries(changed) };
}

const keyOf = ({ workspaceId, livemode }: Scope): string => `${workspaceId} ${livemode}`;
