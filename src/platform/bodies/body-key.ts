import { isId, timeOfId } from '../db/ids.ts';

/** The facts about a body that its key contains. */
export interface BodyPlace {
  readonly livemode: boolean;
  /** The UTC day of the emails that have it, as `2026-11-24`. */
  readonly day: string;
  readonly workspaceId: string;
  /** The bodies that one process wrote within a while; only emails that were accepted then refer to it. */
  readonly generation: string;
  /** SHA-256 of its octets, in hexadecimal. */
  readonly hash: string;
  readonly octets: number;
}

const SHAPE = /^(live|test)\/(\d{4}-\d\d-\d\d)\/(ws_[0-9a-z]+)\/(gen_[0-9a-z]+)\/([0-9a-f]{64})-(\d{1,10})$/;

/** The UTC day of a moment (epoch ms), as keys have it. */
export const bodyDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The prefix of all keys of an environment. */
export const environmentPrefix = (livemode: boolean): string => `${livemode ? 'live' : 'test'}/`;

/**
 * `live/2026-11-24/ws_…/gen_…/<hash>-<octets>`: bodies that are removed together have one prefix, first a
 * day, in it a workspace; and the key says which octets have to come back.
 */
export const bodyKey = ({ livemode, day, workspaceId, generation, hash, octets }: BodyPlace): string =>
  `${environmentPrefix(livemode)}${day}/${workspaceId}/${generation}/${hash}-${octets}`;

/** Reads a key; null for any other object in the bucket. */
export function readBodyKey(key: string): BodyPlace | null {
  const [, environment, day = '', workspaceId = '', generation = '', hash = '', octets] =
    SHAPE.exec(key) ?? [];
  if (environment === undefined || !isId('gen', generation)) return null;
  return { livemode: environment === 'live', day, workspaceId, generation, hash, octets: Number(octets) };
}

/** The time (epoch ms) for which the bodies of a generation are given to further emails. */
const GENERATION_MS = 60 * 60_000;
/** The time beyond it in which an email that was given one may still be accepted: a request ends within seconds. */
const ACCEPTED_WITHIN_MS = 10 * 60_000;

/** From then on no email gets a body of that generation. */
export const generationEnd = (generation: string): number => timeOfId(generation) + GENERATION_MS;

/** From then on (by the database's clock) no email with a body of that generation is accepted. */
export const generationClosed = (generation: string): number =>
  generationEnd(generation) + ACCEPTED_WITHIN_MS;
