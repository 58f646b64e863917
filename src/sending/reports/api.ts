import type { ReportMail } from './commands.ts';

/** The functions that reports give to other modules. */
export interface ReportsApi {
  /** True for an address that takes aggregate reports. @throws UnavailableError */
  takesReports(address: string): Promise<boolean>;
  /** Those of the recipients that take aggregate reports, the first ten. @throws UnavailableError */
  addressesFor(recipients: readonly string[]): Promise<readonly string[]>;
  /**
   * Counts the report in a mail; false where it has none that can be read. @throws UnavailableError when it
   * should be sent again
   */
  takeReport(mail: ReportMail): Promise<boolean>;
}
