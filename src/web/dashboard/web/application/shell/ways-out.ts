import type { TransportName } from '../../../../../platform/config/transport-names.ts';

/** The destination of live email: a transport, or `held` when the transport of its domain is not enabled. */
export type WayOut = TransportName | 'held';

interface Words {
  /** True where real people get the email. */
  readonly isDelivered: boolean;
  /** After "email". */
  readonly says: string;
}

/** The fate of live email for each destination. */
export const WAYS_OUT = {
  capture: { isDelivered: false, says: 'is captured here and not delivered' },
  held: { isDelivered: false, says: 'is held, because the transport of its domain is not enabled' },
  smtp: { isDelivered: true, says: 'goes to real people through your SMTP relay' },
  direct: { isDelivered: true, says: 'goes to real people directly to their mail servers' },
  ses: { isDelivered: true, says: 'goes to real people through Amazon SES' },
} as const satisfies Record<WayOut, Words>;

/** The destinations of the domains' live email: the transport that each names, or the default one. */
export function waysOutOf(
  enabled: readonly TransportName[],
  domains: readonly { readonly provider: TransportName }[],
): readonly WayOut[] {
  const [byDefault = 'capture'] = enabled;
  const ways = domains.map(({ provider }): WayOut => (enabled.includes(provider) ? provider : 'held'));
  return ways.length === 0 ? [byDefault] : [...new Set(ways)];
}

/** The sentence about live email, such as "Email is captured here and not delivered." */
export const liveSentence = (ways: readonly WayOut[]): string => {
  const [only] = ways;
  return ways.length === 1 && only !== undefined
    ? `Email ${WAYS_OUT[only].says}.`
    : `Depends on the domain: email ${ways.map((way) => WAYS_OUT[way].says).join('; or it ')}.`;
};

interface WarmedDomain {
  readonly name: string;
  readonly provider: TransportName;
  readonly warmUps: readonly {
    readonly provider: TransportName;
    readonly today: { readonly allowed: number } | null;
  }[];
}

/**
 * The limits of today's warm-ups, such as "Warm-up: today at most 50 recipients of acme.example; …"; empty
 * without one.
 */
export function warmUpSentence(domains: readonly WarmedDomain[]): string {
  const limits = domains.flatMap(({ name, provider, warmUps }) => {
    const today = warmUps.find((each) => each.provider === provider)?.today;
    return today ? [`${today.allowed} recipients of ${name}`] : [];
  });
  const [first, ...others] = limits;
  if (first === undefined) return '';
  const rest = others.length === 0 ? '' : `, and limits for ${others.length} more`;
  return `Warm-up: today at most ${first}${rest}; further email waits.`;
}

/** True where some live email reaches real people. */
export const reachesPeople = (ways: readonly WayOut[]): boolean =>
  ways.some((way) => WAYS_OUT[way].isDelivered);
