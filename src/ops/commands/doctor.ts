import { hostname } from 'node:os';
import { systemNameServers } from '../../mail/dns/resolver.ts';
import type { Config } from '../../platform/config/config.ts';
import { systemClock } from '../../platform/time/clock.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { examine } from '../doctor/examine.ts';
import { openTransports } from '../doctor/mail/open-transport.ts';
import type { Terminal } from './terminal.ts';

/** The options of `posthorn doctor`. */
export interface DoctorRequest {
  /** The recipient of a test message. */
  readonly to?: string;
  /** A domain whose mail server shows whether port 25 is open outwards. */
  readonly probe: string;
}

const MARK = { fine: '✓', wrong: '✗', warning: '!', skipped: '–' } as const satisfies Record<
  Diagnosis['status'],
  string
>;

/**
 * `posthorn doctor` examines everything that email depends on and exits with 1 when something is wrong;
 * warnings alone exit with 0.
 */
export async function runDoctor(
  config: Config,
  { to, probe }: DoctorRequest,
  terminal: Terminal,
): Promise<number> {
  const nameServers = config.dnsServers ?? systemNameServers();
  const examination = {
    config,
    now: systemClock.now,
    nameServers,
    openTransports: () => openTransports(config, { nameServers, hostName: hostname(), probeDomain: probe }),
    to: to ?? null,
  };
  let bad = 0;
  for await (const diagnosis of examine(examination)) {
    if (diagnosis.status === 'wrong') bad += 1;
    terminal.out(lineOf(diagnosis));
  }
  terminal.out(bad === 0 ? '\nNo faults.\n' : `\n${bad === 1 ? 'One fault' : `${bad} faults`}.\n`);
  return bad === 0 ? 0 : 1;
}

/** A finding as text: its mark and sentence, and below them the advice. */
export const lineOf = ({ check, status, detail, advice }: Diagnosis): string =>
  `${MARK[status]} ${check}: ${detail}\n${advice === null ? '' : `    ${advice}\n`}`;
