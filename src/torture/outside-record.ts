import { existsSync, readFileSync } from 'node:fs';

/** The ends that the simulator leads to, by the local part of the address. */
export const ENDS = {
  delivered: 'delivered',
  bounced: 'failed',
  'bounced-transient': 'sent',
  complained: 'delivered',
  opened: 'delivered',
  deferred: 'delivered',
  suppressed: 'failed',
} as const;

/** A fate that an address chooses. */
export type Fate = keyof typeof ENDS;

/** The ends that the torture's own mail server leads live mail to. */
export const LIVE_ENDS = { taken: 'sent', refused: 'failed' } as const;

/** A fate of live mail, which its address chooses too. */
export type LiveFate = keyof typeof LIVE_ENDS;

/** What the client knows of one email that was acknowledged. */
export interface Acknowledged {
  readonly id: string;
  readonly fate: Fate | LiveFate;
  readonly livemode: boolean;
  /** Not to be sent before (epoch ms); null: at once. */
  notBefore: number | null;
  /** What became of a wish to cancel it: acknowledged, refused because it was too late, or nobody said. */
  cancelled: 'never asked' | 'acknowledged' | 'refused' | 'unknown';
}

/** What the client has seen, and nobody but the client. */
export class OutsideRecord {
  readonly acknowledged = new Map<string, Acknowledged>();
  /** One idempotency key was answered with two emails. */
  readonly contradictions: string[] = [];
  /** Requests of which nobody can say whether they were accepted; each may have left one email. */
  unanswered = 0;
  refused = 0;

  acknowledge(
    id: string,
    { fate, livemode }: Pick<Acknowledged, 'fate' | 'livemode'>,
    scheduledAt: number | null,
  ): Acknowledged {
    const email: Acknowledged = { id, fate, livemode, notBefore: scheduledAt, cancelled: 'never asked' };
    this.acknowledged.set(id, email);
    return email;
  }
}

/** What the performers' own files say of one email. */
export interface Performed {
  /** When the first attempt began (epoch ms). */
  firstBegun: number;
  begun: number;
  /** Attempts after which some recipient's server had the message. */
  accepted: number;
}

/** Reads the files that the instances appended to while they performed. */
export function readPerformed(files: readonly string[]): ReadonlyMap<string, Performed> {
  const performed = new Map<string, Performed>();
  for (const file of files) {
    if (!existsSync(file)) continue;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [what, id = '', , last = ''] = line.split(' ');
      const known = performed.get(id) ?? { firstBegun: Number.POSITIVE_INFINITY, begun: 0, accepted: 0 };
      if (what === 'begun') {
        known.begun++;
        known.firstBegun = Math.min(known.firstBegun, Number(last));
      } else if (what === 'done') {
        if (Number(last) > 0) known.accepted++;
      } else continue;
      performed.set(id, known);
    }
  }
  return performed;
}
