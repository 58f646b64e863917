import { organizationOf } from '../../mail/authentication/organization.ts';
import type { SenderChecks } from '../../mail/authentication/sender-checks.ts';
import { mayPassLater } from '../../mail/authentication/sender-results.ts';
import type { AggregateReport } from '../../mail/inbound/aggregate/aggregate-report.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import type { Database } from '../../platform/db/database.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { type VerifiedDomain, verifiedAtHost, verifiedCovering } from '../domains/queries.ts';
import { type CountedNumbers, domainsOf, namesIn } from './attribution.ts';
import { countReport, countUnverified } from './store.ts';

/** The parts that take a report. */
export interface ReportTaker {
  readonly database: Database;
  readonly now: () => number;
  /** Called for each report about domains of this service. */
  readonly count?: (end: 'counted' | 'unverified') => void;
  readonly mailReader: Pick<MailReader, 'aggregate'>;
  readonly senderChecks: Pick<SenderChecks, 'check'>;
}

/** A mail to an address for aggregate reports. */
export interface ReportMail {
  readonly raw: Buffer;
  /** Its recipients that are such addresses. */
  readonly recipients: readonly string[];
  /**
   * Null where it is not known, as of mail that another server has taken in: only a signature proves its
   * sender.
   */
  readonly client: string | null;
  /** The workspace whose mailbox it was read of. */
  readonly workspaceId?: string;
  readonly helo: string;
  /** The envelope sender; '' for the null one. */
  readonly from: string;
}

const ADDRESS = /^(?:dmarc|tlsrpt)@([a-z0-9.-]{1,253})$/i;

/** The host of an address for aggregate reports; null for any other address. */
export const reportHostOf = (address: string): string | null =>
  ADDRESS.exec(address)?.[1]?.toLowerCase() ?? null;

/**
 * True for an address that takes reports: at the name or the return path of a proven domain. @throws
 * UnavailableError
 */
export async function takesReports(
  { database }: Pick<ReportTaker, 'database'>,
  address: string,
): Promise<boolean> {
  const host = reportHostOf(address);
  return host !== null && (await verifiedAtHost(database, host)).length > 0;
}

/** The hosts of one mail that are asked for. A stranger names as many as he likes. */
const MOST_HOSTS = 10;

/**
 * Those of the recipients that take reports, the first ten; each costs a question. @throws UnavailableError
 */
export async function addressesFor(
  taker: Pick<ReportTaker, 'database'>,
  recipients: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const address of recipients) {
    if (found.length === MOST_HOSTS) break;
    if (await takesReports(taker, address)) found.push(address);
  }
  return found;
}

/**
 * Counts the report in a mail, once, for the domains of the workspaces that its recipient belongs to. A
 * report whose sender nothing proves, or about other domains, counts for nothing but `unverified`. False
 * where there is no report that can be read.
 * @throws UnavailableError when it should be sent again
 */
export async function takeReport(taker: ReportTaker, mail: ReportMail): Promise<boolean> {
  const { database, mailReader, senderChecks, now, count } = taker;
  const hosts = [...new Set(mail.recipients.flatMap((address) => reportHostOf(address) ?? []))].slice(
    0,
    MOST_HOSTS,
  );
  const receiving = (await Promise.all(hosts.map((host) => verifiedAtHost(database, host)))).flat();
  if (receiving.length === 0) return false;
  const unverified = async () => {
    await countUnverified(database, [...new Set(receiving.map(({ id }) => id))], now());
    count?.('unverified');
    return true;
  };
  const report = await mailReader.aggregate(mail.raw, now());
  if (report === null) {
    await unverified();
    return false;
  }
  // Looked up before the sender, whose name servers may be slow.
  const numbers = await numbersFor(database, report, receiving);
  if (numbers.rows.length === 0) return unverified();
  const sender = await senderChecks.check(mail);
  if (mail.client === null ? sender.dkim.result === 'temperror' : mayPassLater(sender))
    throw new UnavailableError('DNS gave no answer about the sender of a report.');
  if (sender.author === null) return unverified();
  // A stranger has as many subdomains as he likes.
  await countReport(database, report, organizationOf(sender.author), numbers, now());
  count?.('counted');
  return true;
}

async function numbersFor(
  database: Database,
  report: AggregateReport,
  receiving: readonly VerifiedDomain[],
): Promise<CountedNumbers> {
  const names = namesIn(report);
  const workspaceIds = [...new Set(receiving.map(({ workspaceId }) => workspaceId))];
  const verified = await verifiedCovering(database, workspaceIds, names);
  const owners = names.flatMap((name) => domainsOf(name, verified).map(({ id }) => ({ name, domainId: id })));
  const owned = new Set(owners.map(({ name }) => name));
  return { rows: rowsIn(report, owned), owners };
}

function rowsIn(report: AggregateReport, owned: ReadonlySet<string>): CountedNumbers['rows'] {
  if (report.kind === 'dmarc')
    return report.rows
      .filter(({ from }) => owned.has(from))
      .map(({ from, ...row }) => ({ name: from, ...row }));
  return report.policies
    .filter(({ domain }) => owned.has(domain))
    .flatMap(({ domain, successful, failures, failed }) => {
      const known = failures.reduce((sum, { sessions }) => sum + sessions, 0);
      return [
        { name: domain, result: 'successful', sessions: successful },
        ...failures.map(({ type, sessions }) => ({ name: domain, result: type, sessions })),
        // Some servers state a total without details.
        { name: domain, result: 'other', sessions: Math.max(0, failed - known) },
      ].filter(({ sessions }) => sessions > 0);
    });
}
