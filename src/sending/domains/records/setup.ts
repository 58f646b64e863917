import { isIP } from 'node:net';
import { mayBeFollowed } from '../../../mail/transport/order.ts';
import { leaves } from '../../../mail/transport/traits.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import { allowedOn, DEFAULT_PER_DAY, endOf, type WarmUp } from '../../../mail/transport/warm-up.ts';
import { mailHostOf } from '../../../platform/config/config.ts';
import { readRelayUrl } from '../../../platform/config/relay-url.ts';
import type { EnabledTransports } from '../../../platform/config/transport-names.ts';
import { type Failure, invalid, invalidAt } from '../../../platform/errors/failure.ts';
import { hostOf } from '../../../platform/text/host.ts';
import type { WantedWarmUp } from '../model.ts';
import type { DnsSetup } from './records.ts';

/** The settings that determine the records of every domain. */
export interface SetupSource {
  readonly transport: DnsSetup['transports'];
  readonly publicUrl: string;
  readonly ehloName: string | null;
  readonly smtpUrl: string | null;
  readonly smtpFallbackUrl: string | null;
  readonly returnPathDomain: string | null;
  readonly inboundSmtpPort: number | null;
}

/**
 * The hosts that the records of every domain point to. Without EHLO_NAME the host of PUBLIC_URL is the mail
 * server.
 */
export function setupOf(source: SetupSource): DnsSetup {
  const { transport, publicUrl, ehloName, smtpUrl, smtpFallbackUrl, returnPathDomain } = source;
  const publicHost = hostOf(new URL(publicUrl));
  const mailHost = mailHostOf(source);
  const relayHosts = [smtpUrl, smtpFallbackUrl].flatMap((url) => {
    const relay = transport.includes('smtp') && url !== null ? readRelayUrl(url) : null;
    return relay ? [isOwn(relay.host) ? mailHost : relay.host] : [];
  });
  return {
    transports: transport,
    mailHost,
    hasMailName: ehloName !== null,
    relayHosts: [...new Set(relayHosts)],
    returnPathDomain,
    trackingHost: isIP(publicHost) === 0 ? publicHost : null,
    receivesReports: source.inboundSmtpPort !== null,
  };
}

/** True for a relay on this machine, which sends from this machine's address. */
const isOwn = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

/**
 * Reads the fallbacks that a request chooses to take over from `first`, in their order. Each that is not
 * possible at its place is a problem in the answer.
 */
export function readFallbacks(
  wanted: readonly string[],
  first: Transport['name'],
  transports: EnabledTransports,
): readonly Transport['name'][] | Failure {
  const order = [first];
  const problems = wanted.flatMap((each, index) => {
    const name = transports.find((known) => known === each && leaves(known));
    const message = name === undefined ? unknownHere(transports) : misplaced(name, order);
    if (name !== undefined && message === null) order.push(name);
    return message === null ? [] : [{ path: `/body/fallbacks/${index}`, message }];
  });
  return problems.length === 0 ? order.slice(1) : invalid(problems);
}

const unknownHere = (transports: EnabledTransports): string => {
  const choice = transports.filter(leaves).join(', ') || 'none';
  return `Choose from the enabled transports that send mail: ${choice}.`;
};

function misplaced(name: Transport['name'], before: readonly Transport['name'][]): string | null {
  if (before.includes(name)) return `Name each transport once; ${name} already has an earlier place.`;
  const last = before.find((each) => !mayBeFollowed(each));
  return last === undefined ? null : `No transport can come after ${last}, which is never down as a whole.`;
}

const overSince = (warmUp: WarmUp): string =>
  `Start later, or add days: this schedule ended at ${endOf(warmUp)}, so it would have no effect. An empty list ends a warm-up.`;

/** Requests come from machines whose clocks differ. */
const AHEAD_MS = 300_000;

/**
 * Reads the warm-ups of a request; members that it leaves out stay as in `before`. Each warm-up that is not
 * possible is a problem in the answer.
 */
export function readWarmUps(
  wanted: readonly WantedWarmUp[],
  before: readonly WarmUp[],
  transports: EnabledTransports,
  now: number,
): readonly WarmUp[] | Failure {
  const read: WarmUp[] = [];
  const problems = wanted.flatMap(({ provider: named, startedAt, perDay }, index) => {
    const path = `/body/warmUps/${index}`;
    const provider = transports.find((known) => known === named && leaves(known));
    if (provider === undefined) return [{ path: `${path}/provider`, message: unknownHere(transports) }];
    if (read.some((one) => one.provider === provider))
      return [
        { path: `${path}/provider`, message: `Name each transport once; ${provider} is already named.` },
      ];
    if (startedAt !== undefined && Date.parse(startedAt) > now + AHEAD_MS)
      return [
        {
          path: `${path}/startedAt`,
          message: 'Start now or earlier: before its first day a warm-up would have no effect.',
        },
      ];
    const known = before.find((one) => one.provider === provider);
    const warmUp: WarmUp = {
      provider,
      startedAt: startedAt === undefined ? (known?.startedAt ?? iso(now)) : iso(Date.parse(startedAt)),
      perDay: perDay ?? known?.perDay ?? DEFAULT_PER_DAY,
    };
    // A warm-up that has ended meanwhile may be sent again unchanged, beside the ones that change.
    if (allowedOn(warmUp, now) === null && !Bun.deepEquals(warmUp, known))
      return [{ path: `${path}/startedAt`, message: overSince(warmUp) }];
    read.push(warmUp);
    return [];
  });
  return problems.length === 0 ? read : invalid(problems);
}

const iso = (at: number): string => new Date(at).toISOString();

/** Reads the transport that a request chooses, which must be enabled here; null for the default one. */
export function readProvider(
  wanted: string | null,
  transports: EnabledTransports,
): Transport['name'] | null | Failure {
  const transport = transports.find((name) => name === wanted);
  if (transport !== undefined || wanted === null) return transport ?? null;
  const message = `Choose one of the enabled transports: ${transports.join(', ')}.`;
  return invalidAt('/body/provider', message);
}
