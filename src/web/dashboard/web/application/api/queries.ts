import {
  keepPreviousData,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import type { Operations } from '../../../../client/operations.ts';
import { toast, toastProblem } from '../ui/overlays/toast.tsx';
import type { RefreshRule } from './changes.ts';
import { previewPace } from './preview-pace.ts';
import { isFinal, RequestError, request } from './requests.ts';
import { useViewer, type Viewer } from './viewer.tsx';

/** A request by its method and the template of its path: `GET /emails/{id}`. */
export type Operation = keyof Operations;
type ReadOperation = Extract<Operation, `GET ${string}`>;
type ListOperation = {
  [Name in ReadOperation]: Operations[Name]['isList'] extends true ? Name : never;
}[ReadOperation];
type ChangeOperation = Exclude<Operation, ReadOperation>;

export type ItemOf<Name extends ListOperation> = Operations[Name]['data'][number];

/** The parameters of a request besides its path. An object without required members may be left out. */
export type Parameters<Name extends Operation> = MaybeEmpty<'path', Operations[Name]['path']> & {
  readonly query?: Operations[Name]['query'];
};
type MaybeEmpty<Member extends string, Value> = object extends Value
  ? { readonly [Key in Member]?: Value }
  : { readonly [Key in Member]: Value };
type WithBody<Name extends Operation> = Operations[Name]['body'] extends null
  ? Parameters<Name>
  : Parameters<Name> & { readonly body: Operations[Name]['body'] };

interface Pieces {
  readonly path?: object;
  readonly query?: object;
  readonly body?: object | string | null;
}

/** The address of a request under `/app/api`, with the environment: `test/emails/em_1?limit=5`. */
export function addressOf(environment: Viewer['environment'], operation: Operation, pieces: Pieces): string {
  const [, template = ''] = operation.split(' ');
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((pieces.path as Record<string, unknown>)[name])),
  );
  const given = Object.entries(pieces.query ?? {}).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${environment}${path}${search === '' ? '' : `?${search}`}`;
}

async function ask<Name extends Operation>(
  viewer: Viewer,
  name: Name,
  pieces: Pieces,
  signal?: AbortSignal,
  onHeaders?: (headers: Headers) => void,
) {
  const [method = ''] = name.split(' ');
  try {
    return await request<Operations[Name]['data']>(method, addressOf(viewer.environment, name, pieces), {
      // Without a body the service wants an empty one, unless it is a question.
      ...(method !== 'GET' && { body: pieces.body ?? {} }),
      ...(signal && { signal }),
      ...(onHeaders && { onHeaders }),
    });
  } catch (error) {
    if (error instanceof RequestError && error.status === 401) viewer.onExpired();
    throw error;
  }
}

const keyOf = ({ environment, workspace }: Viewer, name: Operation, pieces: Pieces = {}) =>
  [workspace.id, environment, name.split(' ')[1]?.split('/')[1], name, pieces] as const;

/** The way an answer stays up to date: the service reports changes, and the changed data is read again. */
export interface Freshness extends RefreshRule {
  /** False: the request is not sent yet. */
  readonly enabled?: boolean;
  /** Another environment than that of the page. */
  readonly environment?: Viewer['environment'];
  /** True: the previous answer is shown until the new one arrives. */
  readonly keeps?: boolean;
}

/** Reads one thing. `data` is undefined until it has arrived. */
export function useRead<Name extends ReadOperation>(
  name: Name,
  parameters: Parameters<Name>,
  { enabled = true, environment, ...following }: Freshness = {},
) {
  const here = useViewer();
  const viewer = environment ? { ...here, environment } : here;
  return useQuery({
    queryKey: keyOf(viewer, name, parameters),
    queryFn: async ({ signal }) => (await ask(viewer, name, parameters, signal)).data,
    meta: { ...following },
    enabled,
  });
}

/** Reads a list page by page: `items` are those that have been read. */
export function useList<Name extends ListOperation>(
  name: Name,
  parameters: Parameters<Name>,
  { enabled = true, keeps = false, ...following }: Freshness = {},
) {
  const viewer = useViewer();
  const query = useInfiniteQuery({
    queryKey: keyOf(viewer, name, { ...parameters, query: { ...parameters.query, after: 'each' } }),
    queryFn: ({ pageParam, signal }) =>
      ask(viewer, name, { ...parameters, query: { ...parameters.query, after: pageParam } }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) =>
      pagination?.hasMore === true ? (pagination.nextCursor ?? undefined) : undefined,
    ...(keeps && { placeholderData: keepPreviousData }),
    meta: { ...following },
    enabled,
  });
  const { isRefetching, isFetchingNextPage, refetch, fetchNextPage } = query;
  /** Another page ends a reading of those before it, and with that the news in them: it waits. */
  const further = async (): Promise<void> => {
    if (isRefetching && !isFetchingNextPage) await refetch({ cancelRefetch: false });
    await fetchNextPage({ cancelRefetch: false });
  };
  const pages = query.data?.pages;
  const items = useMemo(() => pages?.flatMap(({ data }) => data as readonly ItemOf<Name>[]), [pages]);
  return { ...query, fetchNextPage: further, items };
}

/**
 * The time between two counts of a list that changes all the time: a count may look at ten thousand items.
 */
const COUNT_PACE_MS = 10_000;

/** When the number of a list's items is asked for: the page knows it where all have been read. */
export const countRule = ({ hasNextPage }: { readonly hasNextPage: boolean }): Freshness => ({
  enabled: hasNextPage,
  every: COUNT_PACE_MS,
});

/** Requests that change nothing, although they have a body; an update of users only as a dry run. */
type QuestionOperation =
  | 'POST /templates/{id}/update-users'
  | 'POST /audiences/preview'
  | 'POST /flows/{id}/validate';

/** Sends a POST that changes nothing. The previous answer is shown until the next one arrives. */
export function useQuestion<Name extends QuestionOperation>(
  name: Name,
  parameters: WithBody<Name>,
  { enabled = true }: Freshness = {},
) {
  const viewer = useViewer();
  return useQuery({
    queryKey: keyOf(viewer, name, parameters as Pieces),
    queryFn: async ({ signal }) => (await ask(viewer, name, parameters as Pieces, signal)).data,
    placeholderData: keepPreviousData,
    // The query changes with each key that is typed.
    ...ONCE,
    enabled,
  });
}

/**
 * An answer that is shown until the next one: the same is not asked again, and kept for minutes they are
 * megabytes.
 */
const ONCE = { gcTime: 0, meta: { every: false } } as const;

/** A person who types for long reaches the limit of previews a minute, which lets one through each second. */
const LIMITED_MS = 2_000;
const MOST_LIMITED = 30;
const isWorthWaiting = (tries: number, error: Error): boolean =>
  tries < MOST_LIMITED && error instanceof RequestError && !isFinal(error);

let latestQuestion = 0;

/**
 * Has a message rendered. Its body is JSON already, and long: a key of the query with the body in it is
 * written and compared at each rendering, so that a number takes its place. Nothing is sent for null. While a
 * source cannot be rendered, the last result stays: half of a tag is typed between two messages, and a frame
 * that goes and comes again is laid out as a whole.
 */
export function useRendered(body: string | null) {
  const name = 'POST /templates/render-preview';
  const viewer = useViewer();
  const question = useMemo(() => (body === null ? 0 : ++latestQuestion), [body]);
  const { data, error, isFetching } = useQuery({
    queryKey: [...keyOf(viewer, name), question],
    queryFn: async ({ signal }) => {
      previewPace.sending();
      return (await ask(viewer, name, { body }, signal, previewPace.heard)).data;
    },
    placeholderData: keepPreviousData,
    ...ONCE,
    retry: isWorthWaiting,
    retryDelay: LIMITED_MS,
    enabled: body !== null,
  });
  const [last, setLast] = useState(data);
  if (data && data !== last) setLast(data);
  return { data: data ?? last, error, isFetching };
}

/**
 * The address of what the browser itself opens, in a link or a frame: it names the workspace, as the header
 * of a request does.
 */
const addressIn = ({ workspace }: Viewer, address: string): string =>
  `/app/api/${address}${address.includes('?') ? '&' : '?'}workspace=${workspace.id}`;

/** The address of a file to download, for a link. */
export function useDownload<Name extends ReadOperation>(name: Name, parameters: Parameters<Name>): string {
  const viewer = useViewer();
  return addressIn(viewer, addressOf(viewer.environment, name, parameters));
}

/** The address of a message for a frame, with the pictures of other hosts or without. */
export function useMessageFrame(
  list: 'emails' | 'captured' | 'received',
  id: string,
  hasPictures: boolean,
): string {
  const viewer = useViewer();
  const { environment } = viewer;
  return addressIn(viewer, `${environment}/${list}/${id}/html${hasPictures ? '?pictures=true' : ''}`);
}

/**
 * Changes something, in this environment unless another one is named. Afterwards everything of that resource
 * is read again, and of those that `also` names by the first part of their paths.
 */
export function useChange<Name extends ChangeOperation>(
  name: Name,
  also: readonly string[] = [],
  elsewhere?: Viewer['environment'],
) {
  const here = useViewer();
  const viewer = elsewhere ? { ...here, environment: elsewhere } : here;
  const client = useQueryClient();
  const resources = [name.split('/')[1] ?? '', ...also];
  const change = useMutation({
    mutationFn: async (given: WithBody<Name>) => (await ask(viewer, name, given as Pieces)).data,
    onSuccess: () => refresh(client, viewer, resources),
  });
  const { mutateAsync } = change;
  return {
    ...change,
    /** Changes one of many; `refresh` reads everything again after the last. */
    each: async (given: WithBody<Name>) => (await ask(viewer, name, given as Pieces)).data,
    refresh: () => refresh(client, viewer, resources),
    /**
     * Changes it, and tells in a toast that it was done, or why not. The library's own calls back only while
     * the component is there, and a row that was removed is gone before all is read again.
     */
    mutate: (
      given: WithBody<Name>,
      done?: string | ((data: Operations[Name]['data']) => void),
      onError: (error: unknown) => void = toastProblem,
    ): void =>
      void mutateAsync(given).then(
        (data) => (typeof done === 'string' ? toast(done) : done?.(data)),
        onError,
      ),
  };
}

/** Reads everything again that the page shows of these resources, by the first part of their paths. */
async function refresh(client: QueryClient, viewer: Viewer, resources: readonly string[]): Promise<void> {
  await Promise.all(
    resources.map((resource) =>
      client.invalidateQueries({ queryKey: [viewer.workspace.id, viewer.environment, resource] }),
    ),
  );
}

/** True while the component is shown: an answer that comes later has nothing to change any more. */
export function useIsShown(): RefObject<boolean> {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}

/** A value once it has not changed for a while, so that not every key that is pressed asks the service. */
export function useSettled<Value>(value: Value, milliseconds: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
