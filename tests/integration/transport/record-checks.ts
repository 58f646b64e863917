import { expect } from 'bun:test';
import { checkRecords } from '../../../src/mail/dns/check-records.ts';
import { createResolver } from '../../../src/mail/dns/resolver.ts';
import type { ExpectedRecord } from '../../../src/mail/dns/txt-rules.ts';
import { startNameServer, type Zone } from './name-server.ts';

/** A name server for one file of tests, and the check of a record against its zone. */
export async function openRecordChecks() {
  const dns = await startNameServer();
  // A busy machine may take long to answer what is answered; only what is never answered is given up soon.
  const patient = createResolver([dns.server], { timeoutMs: 60_000, rounds: 1 });
  const brief = createResolver([dns.server], { timeoutMs: 100, rounds: 1 });
  const check = async (record: ExpectedRecord, zone: Zone) => {
    dns.zone = zone;
    const resolver = Object.values(zone).includes('silence') ? brief : patient;
    const [checked] = await checkRecords([record], { resolver, domain: 'shop.test' });
    return checked;
  };
  return { dns, patient, check };
}

export const spf = {
  purpose: 'spf',
  type: 'TXT',
  name: 'b.shop.test',
  value: 'v=spf1 ip4:192.0.2.1 ~all',
  priority: null,
} as const;

export const verified = { status: 'verified', error: null };
export const failed = (words: string) => ({ status: 'failed', error: expect.stringContaining(words) });
export const pending = (words: string) => ({ status: 'pending', error: expect.stringContaining(words) });
