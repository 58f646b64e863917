// The entry point of the parser's thread, which is a separate bundle in the executable (scripts/build.ts).
import { movable, serve } from '../../platform/threads/serve.ts';
import { type Findings, type LookedAt, lookAt } from '../check/look.ts';
import { type Previewed, type PreviewWarnings, previewWarnings } from '../check/preview-warnings.ts';
import type { AggregateReport } from '../inbound/aggregate/aggregate-report.ts';
import { readAggregate } from '../inbound/aggregate/read-aggregate.ts';
import type { Feedback } from '../inbound/feedback.ts';
import { readReport } from '../inbound/read-report.ts';
import { NotSubmittable, type RawFile, type RawMail } from '../raw/raw-mail.ts';
import { readFile, readRaw } from '../raw/read-raw.ts';
import { type ReceivedMail, readHeader, readReceived } from '../received/received-mail.ts';
import { readSubmitted, type Submission } from '../submission/submitted.ts';
import { type MailParts, readParts } from './mail-parts.ts';

/** A mail, and the way to read it. */
export interface MailQuestion {
  readonly as: 'report' | 'aggregate' | 'submission' | 'raw' | 'parts' | 'file' | 'received' | 'header';
  readonly raw: Uint8Array;
  /** The recipients in the envelope. */
  readonly recipients: readonly string[];
  /** True when the sender in the envelope is null. */
  readonly isFromNobody?: boolean;
  /** Which of its files is wanted. */
  readonly file?: number;
  /** The time by which a report is too old, or from the future (epoch ms). */
  readonly now?: number;
}

/** A message to look at before it is sent, or to warn of. */
export type CheckQuestion =
  | { readonly as: 'check'; readonly message: LookedAt }
  | { readonly as: 'warnings'; readonly previewed: Previewed };

/** The content of a mail. */
export type MailAnswer =
  | { readonly looked: Findings }
  | { readonly warnings: PreviewWarnings }
  | { readonly feedback: readonly Feedback[] }
  | { readonly aggregate: AggregateReport | null }
  | { readonly submission: Submission }
  | { readonly mail: RawMail }
  | { readonly refused: Pick<NotSubmittable, 'reason' | 'status'> }
  | { readonly file: FileOctets | null }
  | { readonly parts: MailParts | null }
  | { readonly received: ReceivedMail };

/** A file of a mail. */
export interface FileOctets extends RawFile {
  readonly octets: Uint8Array;
}

/**
 * Octets from which on the memory of a mail is given back at once: a parser leaves several times as much of
 * it behind.
 */
const LARGE = 1_048_576;

const read = async (question: MailQuestion | CheckQuestion): Promise<MailAnswer> => {
  if (question.as === 'check') return { looked: lookAt(question.message) };
  if (question.as === 'warnings') return { warnings: previewWarnings(question.previewed) };
  const { as, raw, recipients, isFromNobody, file = 0, now = 0 } = question;
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (as === 'report') return { feedback: await readReport(mail, recipients, isFromNobody) };
  if (as === 'received') return { received: await readReceived(mail) };
  if (as === 'header') return { received: await readHeader(mail) };
  if (as === 'aggregate') return { aggregate: await readAggregate(mail, now) };
  if (as === 'parts') return { parts: await readParts(mail) };
  if (as === 'file') return { file: await readFile(mail, file) };
  const found = as === 'submission' ? await readSubmitted(mail, recipients) : await readRaw(mail);
  if (found instanceof NotSubmittable) return { refused: { reason: found.reason, status: found.status } };
  return 'email' in found ? { submission: found } : { mail: found };
};

serve(read, (answer) => {
  const octets = 'mail' in answer ? answer.mail.octets : 'file' in answer ? answer.file?.octets : undefined;
  if (!octets) return [];
  // Once the answer is given.
  if (octets.byteLength > LARGE) setTimeout(() => Bun.gc(true));
  return movable(octets);
});
