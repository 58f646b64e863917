import type { NotSubmittable, RawMail } from '../raw/raw-mail.ts';
import { readRaw } from '../raw/read-raw.ts';
import { isTemplated, readSubmission, type Submission } from '../submission/submitted.ts';

/** Reads a mail that stays what it is; or a request, where it names a template. */
export const readSubmitted = async (
  mail: Buffer,
  recipients: readonly string[],
): Promise<RawMail | Submission | NotSubmittable> =>
  isTemplated(mail) ? readSubmission(mail, recipients) : readRaw(mail);
