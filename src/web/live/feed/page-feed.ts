import type { CommitListener } from '../../../engine/engine.ts';
import type { Draft } from '../../../engine/machine/draft.ts';
import type { Kind } from '../../../engine/machine/kind.ts';
import type { Scope } from '../../../engine/machine/result.ts';
import type { Permission } from '../../../http/auth/permissions.ts';
import type { ChangeNote } from '../../../http/module.ts';
import type { OtherInstances } from '../exchange/live-exchange.ts';
import { BEAT_MS, type ChangeMessage } from '../model.ts';
import type { StateCounts } from '../state-counts.ts';
import { scopeKey, visibilityKey } from '../visibility.ts';
import { ChangedResources, type Follower } from './changed-resources.ts';
import { MachineViewers, type Viewer } from './machine-viewers.ts';

/** Shortest time between two messages. */
const TICK_MS = 250;
/** Other instances commit as well, and name no resources here: so often everything is read again. */
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

/** The resource that shows a kind of actors, and the permission for it. */
export interface ShownKind {
  readonly kind: { readonly name: string };
  readonly resource: string;
  readonly permission: Permission;
}

/** The parts that the feed reads. */
export interface PageFeedParts {
  readonly engine: { listen(listener: CommitListener): () => void };
  readonly kinds: readonly ShownKind[];
  /** True where other instances may work on the same database. */
  readonly hasOthers: boolean;
  readonly stateCounts: Pick<StateCounts, 'start' | 'stop' | 'note' | 'counts'>;
  readonly others: OtherInstances;
  now(): number;
}

/** The pages that are open in one environment, and what has changed there since their last messages. */
interface Channel {
  readonly scope: Scope;
  readonly followers: Set<Follower>;
  readonly changed: ChangedResources;
  /** By the set of visible kinds. */
  readonly viewers: Map<string, MachineViewers>;
}

export const EVERYTHING = { type: 'everything' } as const satisfies ChangeMessage;
const BEAT = { type: 'beat' } as const satisfies ChangeMessage;

/**
 * Reports commits to open pages: the names of changed resources to all, and the moves of machines to those
 * that show them. It listens to the engine only while a page is open. A commit then costs a look-up and a
 * place in a set, and a count where machines are shown.
 */
export class PageFeed {
  readonly #channels = new Map<string, Channel>();
  readonly #kinds: ReadonlyMap<string, ShownKind>;
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #viewers = 0;
  #ticks = 0;

  constructor(private readonly parts: PageFeedParts) {
    this.#kinds = new Map(parts.kinds.map((shown) => [shown.kind.name, shown]));
  }

  /** Names changed resources to a follower until the returned function is called. */
  follow(follower: Follower): () => void {
    const channel = this.#channelOf(follower.scope);
    channel.followers.add(follower);
    return () => {
      channel.followers.delete(follower);
      this.#close(channel);
    };
  }

  /** Shows the machines to a viewer until the returned function is called. */
  join(viewer: Viewer): () => void {
    const channel = this.#channelOf(viewer.scope);
    const key = visibilityKey(viewer.visibility);
    const viewers =
      channel.viewers.get(key) ?? new MachineViewers(channel.scope, viewer.visibility, this.parts.others);
    channel.viewers.set(key, viewers);
    viewers.add(viewer);
    if (++this.#viewers === 1) void this.parts.stateCounts.start();
    return () => {
      if (!viewers.remove(viewer)) return;
      if (viewers.size === 0) channel.viewers.delete(key);
      if (--this.#viewers === 0) this.parts.stateCounts.stop();
      this.#close(channel);
    };
  }

  /** Notes a change that is no commit of the engine: a request has changed a row. */
  note({ scope: { workspaceId, livemode }, ...noted }: ChangeNote): void {
    for (const environment of SHARED.has(noted.resource) ? [true, false] : [livemode])
      this.#channels.get(scopeKey({ workspaceId, livemode: environment }))?.changed.note(noted);
  }

  /** Stops listening to the engine. */
  stop(): void {
    clearInterval(this.#timer);
    this.#leave?.();
    this.#leave = null;
    if (this.#viewers > 0) this.parts.stateCounts.stop();
  }

  #channelOf({ workspaceId, livemode }: Scope): Channel {
    const scope = { workspaceId, livemode };
    const key = scopeKey(scope);
    const channel = this.#channels.get(key) ?? {
      scope,
      followers: new Set(),
      changed: new ChangedResources(),
      viewers: new Map(),
    };
    this.#channels.set(key, channel);
    if (this.#leave === null) {
      this.#leave = this.parts.engine.listen((kind, drafts) => this.#committed(kind, drafts));
      this.#timer = setInterval(() => this.#tick(), TICK_MS);
    }
    return channel;
  }

  #close({ scope, followers, viewers }: Channel): void {
    if (followers.size > 0 || viewers.size > 0) return;
    this.#channels.delete(scopeKey(scope));
    if (this.#channels.size === 0) this.stop();
  }

  #committed(kind: Kind, drafts: readonly Draft[]): void {
    if (this.#viewers > 0) this.parts.stateCounts.note(kind, drafts);
    const shown = this.#kinds.get(kind.name);
    for (const draft of drafts) {
      const { after } = draft;
      if (shown) {
        const { resource, permission } = shown;
        this.note({ scope: after, resource, permission, id: after.id });
      }
      if (this.#viewers === 0) continue;
      for (const viewers of this.#channels.get(scopeKey(after))?.viewers.values() ?? [])
        viewers.note(kind.name, draft);
    }
  }

  #tick(): void {
    this.#ticks++;
    const isBeat = this.#ticks % (BEAT_MS / TICK_MS) === 0;
    const isForOthers = this.parts.hasOthers && this.#ticks % (OTHERS_MS / TICK_MS) === 0;
    const { instances } = this.parts.others;
    const now = { instances, text: JSON.stringify(instances) };
    for (const { scope, followers, changed, viewers } of this.#channels.values()) {
      for (const follower of followers) {
        const message = isForOthers ? EVERYTHING : changed.messageFor(follower);
        if (message) follower.tell(message);
        else if (isBeat) follower.tell(BEAT);
      }
      changed.clear();
      for (const each of viewers.values())
        each.tick(this.parts.now(), this.parts.stateCounts.counts(scope, each.visibility), now);
    }
  }
}
