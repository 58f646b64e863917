import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readReport } from '../../src/mail/inbound/read-report.ts';
import { isSameMailbox, reportOf, verdictOf } from '../../src/sending/emails/feedback/verdict.ts';
import { CASES } from '../failure/report-servers/cases.ts';

/** The reports of real servers that are committed. */
export const REPORTS = join(import.meta.dir, '../fixtures/reports');

/**
 * A report of a server about a case. Of several about one case the last is the end; the others are warnings.
 */
export interface CollectedReport {
  readonly file: string;
  readonly server: string;
  readonly about: string;
  readonly isWarning: boolean;
}

/** The reports in a directory, in order of their names: `postfix-later.eml`, `postfix-later-2.eml`. */
export function reportsIn(directory: string): readonly CollectedReport[] {
  const files = readdirSync(directory).filter((file) => file.endsWith('.eml'));
  return files.toSorted().map((file) => {
    const [, server = '', about = '', number = '1'] = /^([a-z]+)-([a-z]+)(?:-(\d))?\.eml$/.exec(file) ?? [];
    const isWarning = files.includes(`${server}-${about}-${Number(number) + 1}.eml`);
    return { file, server, about, isWarning };
  });
}

/**
 * The outcome of a recipient: `type subType`, `suppressed` behind it where the address gets no more mail, and
 * the words.
 */
export interface Verdict {
  readonly verdict: string;
  readonly message: string | null;
}

/** The outcome of a recipient after a mail to the return path of its copy. */
export async function verdictOn(raw: Buffer, to: string): Promise<Verdict> {
  const facts = await readReport(raw, ['b+token@bounces.sender.example'], true);
  const fact = facts.length === 0 ? null : verdictOf(facts, (failing) => isSameMailbox(failing, to));
  const report = fact && reportOf(fact);
  if (report === null || report.type !== 'bounced')
    return { verdict: report?.type ?? fact?.kind ?? 'nothing', message: null };
  const { subType, message } = report.data as { subType: string; message: string };
  const type = report.permanent === true ? 'Permanent' : 'Transient';
  const end = report.permanent === true || report.expired === true ? '' : ' (sent)';
  return { verdict: `${type} ${subType}${report.suppresses ? ' suppressed' : ''}${end}`, message };
}

/** The verdict on a collected report. */
export const verdictOnFile = (directory: string, { file, about }: CollectedReport): Promise<Verdict> =>
  verdictOn(readFileSync(join(directory, file)), CASES[about]?.to ?? '');

const DEAD = 'Permanent NoEmail suppressed';
const NO_DOMAIN = 'Permanent DomainNotFound suppressed';
const TIME_OVER = 'Transient expired';

/** The outcome of each case, for every reporting server. */
export const RIGHT: Readonly<Record<string, string>> = {
  unknown: DEAD,
  plain: DEAD,
  disabled: 'Permanent MailboxDisabled suppressed',
  vague: 'Permanent General',
  full: 'Permanent MailboxFull',
  listed: 'Permanent PolicyRejected',
  sender: 'Permanent PolicyRejected',
  content: 'Permanent ContentRejected',
  big: 'Permanent MessageTooLarge',
  later: TIME_OVER,
  down: TIME_OVER,
  nodomain: NO_DOMAIN,
  nullmx: NO_DOMAIN,
  alias: 'Permanent NoEmail',
  pipe: 'Permanent General',
  taken: 'passedOn',
};

/** The cases that a server does not know, or handles in another way. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  // Both try on where a domain takes no mail.
  'opensmtpd-nullmx': TIME_OVER,
  'dma-nullmx': TIME_OVER,
  // Neither names the command that was refused.
  'opensmtpd-sender': DEAD,
  'nullmailer-sender': DEAD,
};

/** The right verdict on a collected report. */
export const rightFor = ({ server, about, isWarning }: CollectedReport): string | undefined =>
  isWarning ? 'delayed' : (EXCEPTIONS[`${server}-${about}`] ?? RIGHT[about]);
