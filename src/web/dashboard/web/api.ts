import type { ActorLife, ActorPage, Machine, Session } from '../../live/model.ts';
import { request } from './application/api/requests.ts';

/** The actors that are asked for: those of a state, or whose ids begin alike. */
export interface WantedActors {
  readonly kind: string;
  readonly state: string | null;
  readonly id: string | null;
  readonly after: string | null;
}

/**
 * The source of a page's data about the machines: one environment of the application, or a session opened
 * with a key or a link.
 */
export interface Source {
  /** The path of the WebSocket. */
  readonly socket: string;
  machines(): Promise<readonly Machine[]>;
  actors(wanted: WantedActors, signal: AbortSignal): Promise<ActorPage>;
  life(id: string, signal: AbortSignal): Promise<ActorLife>;
}

const query = (parameters: WantedActors): string =>
  new URLSearchParams(
    Object.entries(parameters).filter((pair): pair is [string, string] => !!pair[1]),
  ).toString();

/** The machines as they are answered under that path. With a workspace the service refuses when the session has left it. */
export function sourceAt(path: string, socket: string, workspaceId?: string): Source {
  const get = async <T>(what: string, signal?: AbortSignal): Promise<T> => {
    const sent = { ...(workspaceId !== undefined && { workspaceId }), ...(signal && { signal }) };
    return (await request<T>('GET', `${path}/${what}`, sent)).data;
  };
  return {
    socket,
    machines: () => get('machines'),
    actors: (wanted, signal) => get(`actors?${query(wanted)}`, signal),
    life: (id, signal) => get(`actors/${id}`, signal),
  };
}

const OUTSIDE = '/inspector/api';

/** The live view without an account, opened with a key or a printed link. */
export const outside = {
  ...sourceAt(OUTSIDE, '/inspector/live'),
  session: async () => (await request<Session>('GET', `${OUTSIDE}/session`)).data,
  open: (proof: { key: string } | { ticket: string }) =>
    request<object>('POST', `${OUTSIDE}/session`, { body: proof }),
  close: () => request<object>('DELETE', `${OUTSIDE}/session`, { body: {} }),
};
