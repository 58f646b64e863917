import { DAY_MS } from '../../platform/time/clock.ts';
import type { Transport } from './transport.ts';

/** The warm-up of the mail of a domain on a transport. */
export interface WarmUp {
  readonly provider: Transport['name'];
  /** ISO 8601; the day that it lies in, in UTC, is the first. */
  readonly startedAt: string;
  /** The most recipients on each day; after the last there is no limit. */
  readonly perDay: readonly number[];
}

const FIRST = 50;
const GROWTH = 1.4;
const DAYS = 30;
/** Kept back from campaigns, of each day: a password reset does not wait for a newsletter. */
const KEPT_FROM_BULK = 0.2;

const rounded = (exact: number): number => {
  const size = 10 ** Math.max(0, Math.floor(Math.log10(exact)) - 1);
  return Math.round(exact / size) * size;
};

/**
 * The schedule where none is given: 50 on the first day, two fifths more on each of 30 days, to two digits.
 */
export const DEFAULT_PER_DAY: readonly number[] = Array.from({ length: DAYS }, (_, day) =>
  rounded(FIRST * GROWTH ** day),
);

/** The beginning of a day in UTC, in epoch milliseconds. */
export const startOfDay = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

/** The days since the first one; 0 on that day, and before. */
export const dayOf = ({ startedAt }: WarmUp, at: number): number =>
  Math.max(0, (startOfDay(at) - startOfDay(Date.parse(startedAt))) / DAY_MS);

/** The most recipients on that day; null once it is over. */
export const allowedOn = (warmUp: WarmUp, at: number): number | null =>
  warmUp.perDay[dayOf(warmUp, at)] ?? null;

/** The part of a day's allowance that campaigns may have; one at least, or they would never begin. */
export const bulkPartOf = (allowed: number): number =>
  Math.max(1, Math.floor(allowed * (1 - KEPT_FROM_BULK)));

/** The moment from which on there is no limit, ISO 8601. */
export const endOf = ({ startedAt, perDay }: WarmUp): string =>
  new Date(startOfDay(Date.parse(startedAt)) + perDay.length * DAY_MS).toISOString();
