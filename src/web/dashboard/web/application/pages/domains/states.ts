import type { DnsRecord, Domain } from '../../../../../client/operations.ts';
import type { Tone } from '../../ui/display/event-looks.ts';

/** A state of a domain in words. */
export const DOMAIN_STATES = {
  pending: { tone: 'waiting', children: 'Waiting for DNS' },
  verified: { tone: 'good', children: 'Verified' },
  temporaryFailure: { tone: 'waiting', children: 'Records missing' },
  failed: { tone: 'bad', children: 'Failed' },
} as const satisfies Record<Domain['status'], { tone: Tone; children: string }>;

/** False while captured email needs no records, so that none were looked up. */
export const areLookedUp = ({ status, lastCheckedAt }: Pick<Domain, 'status' | 'lastCheckedAt'>): boolean =>
  status !== 'verified' || lastCheckedAt !== null;

/** The ways that live email leaves by. */
export const PROVIDERS = {
  capture: 'Captured (not sent)',
  smtp: 'SMTP relay',
  direct: 'Direct',
  ses: 'Amazon SES',
} as const satisfies Record<Domain['provider'], string>;

/** The purpose of each record. */
export const PURPOSES = {
  dkim: 'Signature (DKIM)',
  spf: 'Sender (SPF)',
  returnPath: 'Bounces',
  dmarc: 'Policy (DMARC)',
  tlsReports: 'TLS reports',
  mx: 'Incoming mail (MX)',
  tracking: 'Tracking',
} as const satisfies Record<DnsRecord['purpose'], string>;

export const RECORD_TONES = {
  pending: 'waiting',
  verified: 'good',
  failed: 'bad',
} as const satisfies Record<DnsRecord['status'], Tone>;
