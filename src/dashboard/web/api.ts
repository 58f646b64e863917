import type { ActorLife, ActorPage, Machine, Session } from '../../modules/inspector/model.ts';

/** A refusal of the service, in its own words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await fetch(`/inspector/api/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...(signal ? { signal } : {}),
  });
  const answer = (await response.json().catch(() => null)) as {
    data?: T;
    error?: { message: string };
  } | null;
  if (!response.ok)
    throw new Refused(response.status, answer?.error?.message ?? `The service answered ${response.status}.`);
  return answer?.data as T;
}

const query = (parameters: Record<string, string | null>): string =>
  new URLSearchParams(
    Object.entries(parameters).filter((pair): pair is [string, string] => !!pair[1]),
  ).toString();

/** The requests that the page makes. */
export const api = {
  session: () => ask<Session>('GET', 'session'),
  open: (with_: { key: string } | { ticket: string }) => ask<object>('POST', 'session', with_),
  close: () => ask<object>('DELETE', 'session', {}),
  machines: () => ask<readonly Machine[]>('GET', 'machines'),
  actors: (
    wanted: { kind: string; state: string | null; id: string | null; after: string | null },
    signal: AbortSignal,
  ) => ask<ActorPage>('GET', `actors?${query(wanted)}`, undefined, signal),
  life: (id: string, signal: AbortSignal) => ask<ActorLife>('GET', `actors/${id}`, undefined, signal),
};
