import type { ReportMail } from './commands.ts';

/** The functions that reports give to other modules. */
export interface ReportsApi {
  /** True for an address that takes aggregate reports. @throws UnavailableError */
  takesReports(address: string): Promise<boolean>;
  /** Counts the report in a mail. @throws UnavailableError when it should be sent again */
  takeReport(mail: ReportMail): Promise<void>;
}
