import { DAY_MS } from '../../platform/time/clock.ts';

/** The period of validity of a certificate, in epoch ms. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * The first failure puts the next try off by five minutes: authorities allow five failed validations an hour.
 */
const FIRST_PUT_OFF_MS = 5 * 60_000;
/** Each further one puts it off four times as long, up to a day. */
const GROWTH = 4;

/**
 * When a certificate is renewed: with a third of its lifetime left (epoch ms). Of the 90 days that
 * authorities usually give, 30 are left for tries that fail.
 */
export const renewalOf = ({ notBefore, notAfter }: Validity): number => notAfter - (notAfter - notBefore) / 3;

/** The time until the next try after that many failures in a row, in ms. */
export const putOffMs = (failures: number): number =>
  Math.min(DAY_MS, FIRST_PUT_OFF_MS * GROWTH ** (failures - 1));
