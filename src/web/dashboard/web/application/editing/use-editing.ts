import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useMember } from '../api/viewer.tsx';
import { DraftKeeper } from './draft-keeper.ts';
import { drafts } from './drafts.ts';
import { Edit, type EditNotes, type EditPlan, type TimestampedResource } from './edit.ts';
import { KeptTimes } from './kept-times.ts';
import { useGuard } from './leaving.ts';
import { pick, type Values } from './merge.ts';
import { type OthersDraft, serverDrafts } from './server-drafts.ts';
import type { ValueStore } from './use-values.ts';

/** The time between two looks for changes of other members. */
const LOOK_MS = 10_000;
/** The unsaved changes of others are shown for so long. */
const SHOWN_MS = 86_400_000;
/** A page that is loaded again keeps other drafts than this one. */
const PAGE = crypto.randomUUID();

/**
 * A resource while it is edited, for the page that shows it. Who shows values asks for them: see
 * use-values.ts.
 */
export interface EditSession<Resource extends TimestampedResource, V extends Values>
  extends EditNotes<V>,
    ValueStore<V> {
  readonly isChanged: boolean;
  readonly kept: KeptTimes;
  /** Members who have unsaved changes of the same resource. */
  readonly others: readonly OthersDraft[];
  /** The names of members on the page. */
  readonly labels: Readonly<Record<keyof V & string, string>>;
  readonly show: (name: string, value: unknown) => string;
  readonly set: (part: Partial<V>) => void;
  readonly replace: (part: Partial<V>) => void;
  readonly save: Edit<Resource, V>['save'];
  readonly saveAside: Edit<Resource, V>['saveAside'];
  readonly discard: () => void;
  readonly restore: () => void;
  readonly forgetOffer: () => void;
  readonly resolve: (theirs: readonly string[]) => void;
  readonly compare: (isComparing: boolean) => void;
  readonly dismiss: () => void;
  /** Its place on the page, so that a dialog that closes knows of it. */
  readonly frame: { current: HTMLElement | null };
}

/** The part of an edit that forms and notes show, for any resource. */
export interface ShownEditing
  extends Omit<EditNotes<Values>, 'base'>,
    ValueStore<Values>,
    Pick<EditSession<TimestampedResource, Values>, 'isChanged' | 'kept' | 'others' | 'show' | 'frame'> {
  readonly base: Values;
  readonly labels: Readonly<Record<string, string>>;
  set(part: Values): void;
  save(): Promise<unknown>;
  discard(): void;
  restore(): void;
  forgetOffer(): void;
  resolve(theirs: readonly string[]): void;
  compare(isComparing: boolean): void;
  dismiss(): void;
}

/** The way in which a page edits a resource. */
export interface EditingPlan<Resource extends TimestampedResource, V extends Values>
  extends EditPlan<Resource, V> {
  /** Its key in the store of drafts: `campaigns/cmp_1`. */
  readonly place: string;
  readonly current: Resource;
  readonly labels: Readonly<Record<keyof V & string, string>>;
  /** A value as people read it, where it is no text. */
  readonly show?: (name: string, value: unknown) => string;
  /** True: all tabs of the page show it. */
  readonly acrossTabs?: boolean;
  /** False: no draft is kept, since it may hold what is secret. */
  readonly isKept?: boolean;
  /** Leaves out of a draft what is secret, and takes it from what is stored when the draft is offered. */
  readonly keeping?: {
    readonly conceal: (changed: Partial<V>) => Partial<V>;
    readonly reveal: (kept: Partial<V>, base: V) => Partial<V>;
  };
}

const plainText = (_: string, value: unknown): string =>
  typeof value === 'string'
    ? value
    : value === true
      ? 'Yes'
      : value === false
        ? 'No'
        : JSON.stringify(value, null, 2);

/**
 * Edits a resource: one way for everything that people write, so that nothing typed is lost and no change of
 * others is taken back.
 */
export function useEditing<Resource extends TimestampedResource, V extends Values>(
  given: EditingPlan<Resource, V>,
): EditSession<Resource, V> {
  const [edit] = useState(() => new Edit(given.current, given));
  const notes = useSyncExternalStore(edit.subscribe, edit.notes);
  const frame = useRef<HTMLElement | null>(null);
  const { current, labels } = given;
  const plan = useRef(given);
  useEffect(() => {
    edit.plan = given;
    plan.current = given;
  });
  useEffect(() => edit.absorb(current), [edit, current]);
  const { kept, others, forget, write } = useKeptDraft(
    edit,
    given.place,
    given.isKept !== false,
    given.keeping,
  );
  const acts = useMemo(() => {
    const answerOffer = (answer: () => void, keep?: () => void) => {
      const { offered } = edit.state();
      answer();
      keep?.();
      if (offered) void drafts.remove(offered.key);
    };
    return {
      subscribe: edit.subscribe,
      valuesNow: edit.values,
      set: edit.set,
      replace: edit.replace,
      resolve: edit.resolve,
      save: edit.save,
      saveAside: edit.saveAside,
      compare: edit.compare,
      dismiss: edit.dismiss,
      discard: () => {
        edit.discard();
        forget();
      },
      // The stored draft is removed; this page keeps its copy.
      restore: () => answerOffer(edit.restore, write),
      forgetOffer: () => answerOffer(edit.forgetOffer),
      show: (name: string, value: unknown) => (plan.current.show ?? plainText)(name, value),
      frame,
    };
  }, [edit, forget, write]);
  useGuard({
    isUnsaved: () => edit.state().isUnsaved,
    discard: acts.discard,
    element: () => frame.current,
    ...(given.acrossTabs && { acrossTabs: true }),
  });
  // The same object while nothing of it changes, for what is rendered only with another one.
  return useMemo(
    () => ({ ...notes, ...acts, isChanged: notes.changed.length > 0, kept, others, labels }),
    [notes, acts, kept, others, labels],
  );
}

/**
 * Keeps what is typed in this browser until it is saved, and offers what another page of the same person has
 * left.
 */
function useKeptDraft<Resource extends TimestampedResource, V extends Values>(
  edit: Edit<Resource, V>,
  resource: string,
  isKept: boolean,
  keeping: EditingPlan<Resource, V>['keeping'],
) {
  const { session, environment } = useMember();
  const account = session.account.id;
  const place = `${session.workspace.id} ${environment} ${resource}`;
  const id = useId();
  const key = `${PAGE}-${id.replace(/\W/g, '')} ${place}`;
  const [times] = useState(() => new KeptTimes());
  const isSent = isKept && serverDrafts.isFor(place);
  const { data } = useQuery({
    queryKey: ['account', 'drafts', place],
    queryFn: () => serverDrafts.others(place),
    enabled: isSent,
    refetchInterval: LOOK_MS,
  });
  const others = useMemo(() => (data ?? []).filter(({ at }) => at > Date.now() - SHOWN_MS), [data]);
  const secrets = useRef(keeping);
  secrets.current = keeping;
  const keeper = useMemo(
    () =>
      new DraftKeeper({
        isUnsaved: () => edit.state().isUnsaved,
        values: () => edit.state().values,
        draft: () => {
          const { values, changed, updatedAt } = edit.state();
          const typed = pick(values, changed);
          const kept = secrets.current?.conceal(typed) ?? typed;
          return { key, account, place, at: Date.now(), updatedAt, values: kept, sums: edit.sums() };
        },
        browser: { keep: drafts.keep, remove: () => void drafts.removeHere(key) },
        service: isSent ? { keep: serverDrafts.keep, remove: () => serverDrafts.remove(key) } : null,
        onKept: (inBrowser) => times.change({ inBrowser }),
        onSent: (onServer) => times.change({ onServer }),
        after: (ms, act) => {
          const timer = setTimeout(act, ms);
          return () => clearTimeout(timer);
        },
      }),
    [edit, key, account, place, isSent, times],
  );
  useEffect(() => {
    if (!isKept) return;
    let isHere = true;
    void drafts.leftAt(place, account, key).then((left) => {
      if (!left || !isHere) return;
      const kept = left.values as Partial<V>;
      const values = secrets.current?.reveal(kept, edit.state().base) ?? kept;
      if (!edit.offer({ ...left, values })) void drafts.remove(left.key);
    });
    const unsubscribe = edit.subscribe(keeper.follow);
    // Another tab may remove the draft that this one still needs.
    const unlisten = drafts.listen((told) => {
      if (told === 'signing out') return keeper.settle();
      if (told === 'cleared') keeper.end();
      else if (told.removed === key) keeper.again();
      return;
    });
    addEventListener('pagehide', keeper.flush);
    document.addEventListener('visibilitychange', keeper.flush);
    return () => {
      isHere = false;
      keeper.leave();
      unsubscribe();
      unlisten();
      removeEventListener('pagehide', keeper.flush);
      document.removeEventListener('visibilitychange', keeper.flush);
    };
  }, [edit, keeper, isKept, place, account, key]);
  return {
    kept: times,
    others,
    forget: keeper.forget,
    write: keeper.write,
  };
}
