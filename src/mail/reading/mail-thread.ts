// The entry point of the parser's thread, which is a separate bundle in the executable (scripts/build.ts).
import { serve } from '../../platform/threads/serve.ts';
import type { Feedback } from '../inbound/feedback.ts';
import { readReport } from '../inbound/read-report.ts';
import { NotSubmittable, readSubmission, type Submission } from '../submission/submitted.ts';
import { type MailParts, readParts } from './mail-parts.ts';

/** A mail, and the way to read it. */
export interface MailQuestion {
  readonly as: 'report' | 'submission' | 'parts';
  readonly raw: Uint8Array;
  /** The recipients in the envelope. */
  readonly recipients: readonly string[];
  /** True when the sender in the envelope is null. */
  readonly isFromNobody?: boolean;
}

/** The content of a mail. */
export type MailAnswer =
  | { readonly feedback: readonly Feedback[] }
  | { readonly submission: Submission }
  | { readonly reason: string }
  | { readonly parts: MailParts | null };

serve(async ({ as, raw, recipients, isFromNobody }: MailQuestion): Promise<MailAnswer> => {
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (as === 'report') return { feedback: await readReport(mail, recipients, isFromNobody) };
  if (as === 'parts') return { parts: await readParts(mail) };
  const submission = await readSubmission(mail, recipients);
  return submission instanceof NotSubmittable ? { reason: submission.reason } : { submission };
});
