import postgres from 'postgres';
import type { ActorLife, ActorPage, Counts, Tick } from '../../src/web/live/model.ts';
import { eventually } from '../support/eventually.ts';

/** A browser's side of the live view, without a browser. */
export interface Viewer extends Disposable {
  readonly cookie: string;
  readonly ticks: readonly Tick[];
  readonly closedWith: number | null;
  /** The counts as they were last told. */
  counts(): Counts;
  get<T>(path: string): Promise<T>;
  life(id: string): Promise<ActorLife>;
  actors(query: string): Promise<ActorPage>;
  watch(id: string | null): void;
}

/** The headers of a browser's request from a page of this service. */
export const FROM_OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' } as const;

/** Exchanges a key, or a ticket, for a session's cookie; null when it is refused. */
export async function sessionCookie(url: string, body: object): Promise<string | null> {
  const response = await fetch(`${url}/inspector/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.headers.get('set-cookie')?.split(';')[0] ?? null;
}

/** Opens the live view with a key and waits until it hears something. */
export async function openViewer(url: string, key: string): Promise<Viewer> {
  const cookie = (await sessionCookie(url, { key })) ?? '';
  const ticks: Tick[] = [];
  let closedWith: number | null = null;
  const socket = new WebSocket(`${url.replace('http', 'ws')}/inspector/live`, {
    headers: { cookie },
  } as never);
  socket.onmessage = ({ data }) => void ticks.push(JSON.parse(String(data)) as Tick);
  socket.onclose = ({ code }) => {
    closedWith = code;
  };
  await eventually('the first tick', async () => ticks[0]);
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/inspector/api/${path}`, { headers: { cookie } });
    return ((await response.json()) as { data: T }).data;
  };
  return {
    cookie,
    ticks,
    get closedWith() {
      return closedWith;
    },
    counts: () => ticks.findLast(({ counts }) => counts !== null)?.counts ?? {},
    get,
    life: (id) => get<ActorLife>(`actors/${id}`),
    actors: (query) => get<ActorPage>(`actors?${query}`),
    watch: (id) => socket.send(JSON.stringify({ type: 'watch', id })),
    [Symbol.dispose]: () => socket.close(),
  };
}

/**
 * Puts a run at a step of its own flow, which the machine that is drawn does not have, and answers its id.
 */
export async function runAtItsOwnStep(databaseUrl: string): Promise<string> {
  const id = 'run_01m7xj1rwzprnwr10308attx';
  const rows = postgres(databaseUrl, { max: 1 });
  await rows`insert into flow_runs (id, workspace_id, livemode, state, context, revision, machine_version, status, step,
      started_at, flow_id, flow_version, contact_id, occurrence_key, is_watched)
    select ${id}, id, false, 'its own', '{}', 1, 1, 'waiting', 'its own', now(), 'flw_1', 1, 'con_1', 'once', false
    from workspaces limit 1`;
  await rows.end();
  return id;
}
