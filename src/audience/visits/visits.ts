import { isIPv4 } from 'node:net';
import type { ReportReceived } from '../../../machines/email/context.ts';
import { comesBeforeOutcome } from '../../../machines/email/rules.ts';
import type { EventResultOf } from '../../engine/machine/result.ts';
import { MANY_LINKS } from '../../sending/tracking/api.ts';
import type { Visitor } from './visitors.ts';

/** An open of a message, or a click on a link of it, by a person or a program. */
export interface Visit {
  readonly emailId: string;
  /** Index over to, cc and bcc. */
  readonly recipient: number;
  readonly type: 'opened' | 'clicked';
  /** The target of the link; empty for an open. */
  readonly target: string;
  readonly userAgent: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A visit to a message with several links, of which it matters where it came from. */
export interface EarlyVisit extends Visit {
  /** The number of different links in the message; three for more. */
  readonly links: number;
  readonly network: string;
}

/** A scanner opens the links of a message within this time of each other. */
const AT_ONCE_MS = 5_000;

/**
 * True when the visits of one network to one message are a scanner's: within five seconds it has followed
 * every link, or three of more. One link proves nothing, since a person follows it as well.
 */
export function areOfScanner(
  visits: readonly Pick<EarlyVisit, 'type' | 'target' | 'links' | 'at'>[],
): boolean {
  const clicks = visits.filter(({ type }) => type === 'clicked');
  return clicks.some(({ at, links }) => {
    const soon = clicks.filter((other) => other.at >= at && other.at - at <= AT_ONCE_MS);
    return links > 1 && new Set(soon.map(({ target }) => target)).size >= Math.min(links, MANY_LINKS);
  });
}

/** The event that reports a visit to the email. */
export function reportOf({ type, recipient, target, userAgent, at }: Visit, via: Visitor): ReportReceived {
  const seen = { userAgent, via };
  return {
    type: 'report.received',
    at,
    report: {
      type,
      recipient,
      // The kind of visitor is part of the number, so that a person who follows a link right after a scanner
      // counts.
      link: Bun.hash.crc32(`${via ?? ''} ${target}`),
      data: type === 'clicked' ? { url: target, ...seen } : seen,
    },
  };
}

/** True when the email takes the visit once the attempt has ended that is under way. */
export const isBeforeOutcome = (result: EventResultOf<'email'>, recipient: number): boolean =>
  result.outcome === 'refused' && comesBeforeOutcome(result.state, result.context, recipient);

/** The network of a client's address: scanners spread their requests over neighbouring addresses. */
export const scannerNetworkOf = (address: string): string =>
  isIPv4(address) ? address.split('.').slice(0, 3).join('.') : address.split(':').slice(0, 3).join(':');
