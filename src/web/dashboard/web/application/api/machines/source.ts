import type { ActorLife, ActorPage, Machine } from '../../../../../live/model.ts';
import { request } from '../requests.ts';

/** The actors that are asked for: those of a state, or whose ids begin alike. */
export interface WantedActors {
  readonly kind: string;
  readonly state: string | null;
  readonly id: string | null;
}

/** The source of the machines' data: one environment, with the session of a member or of a guest. */
export interface MachineSource {
  machines(signal: AbortSignal): Promise<readonly Machine[]>;
  actors(wanted: WantedActors, after: string | null, signal: AbortSignal): Promise<ActorPage>;
  life(id: string, signal: AbortSignal): Promise<ActorLife>;
}

const queryOf = (parameters: object): string =>
  new URLSearchParams(
    Object.entries(parameters).filter((pair): pair is [string, string] => !!pair[1]),
  ).toString();

/** The machines as they are answered under that path. */
export function machinesAt(path: string): MachineSource {
  const get = async <Data>(what: string, signal: AbortSignal): Promise<Data> =>
    (await request<Data>('GET', `${path}/${what}`, { signal })).data;
  return {
    machines: (signal) => get('machines', signal),
    actors: (wanted, after, signal) => get(`actors?${queryOf({ ...wanted, after })}`, signal),
    life: (id, signal) => get(`actors/${id}`, signal),
  };
}
