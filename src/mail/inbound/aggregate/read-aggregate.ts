import type { Attachment, Email } from 'postal-mime';
import { parseMessage, REPORT_LIMITS } from '../../raw/repair/parsable.ts';
import type { AggregateReport } from './aggregate-report.ts';
import { readDmarcReport } from './dmarc-report.ts';
import { readTlsReport } from './tls-report.ts';
import { unpack } from './unpack.ts';

/** Files of a mail that are looked at. A report is one file. */
const MOST_FILES = 5;
/** Mails within a mail: that which was forwarded, and that which it has attached. */
const DEEPEST_MAIL = 2;

/** A file that may be the report. */
interface ReportFile {
  readonly octets: Uint8Array;
  /** The domain that its mail names; null where it names none. */
  readonly about: string | null;
}

/**
 * The report in a mail to the address for aggregate reports; null where there is none that can be read. It
 * never throws.
 */
export async function readAggregate(raw: Buffer, now: number): Promise<AggregateReport | null> {
  for (const { octets, about } of await filesIn(raw, 0)) {
    const content = unpack(octets);
    const report = content === null ? null : reportIn(textOf(content), now, about);
    if (report !== null) return report;
  }
  return null;
}

/**
 * The attached files, those of attached mails too; the text itself may be the report, where a server attaches
 * none.
 */
async function filesIn(raw: Buffer, depth: number): Promise<readonly ReportFile[]> {
  const email = await parseMessage(withTypes(raw), REPORT_LIMITS);
  if (email === null) return [];
  const about = domainNamedBy(email);
  const files: ReportFile[] = [];
  for (const file of email.attachments.slice(0, MOST_FILES)) {
    const octets = octetsOf(file);
    files.push({ octets, about });
    if (file.mimeType === 'message/rfc822' && depth < DEEPEST_MAIL)
      files.push(...(await filesIn(Buffer.from(octets), depth + 1)));
  }
  const text = email.text ?? '';
  const report = text.slice(Math.max(0, text.search(/<(?:\?xml|feedback)\b/i)));
  return [...files.slice(0, MOST_FILES), { octets: Buffer.from(report), about }];
}

/** Trustwave writes the field without its hyphen. */
const withTypes = (raw: Buffer): Buffer =>
  raw.includes('ContentType:')
    ? Buffer.from(raw.toString('latin1').replace(/^ContentType:/gm, 'Content-Type:'), 'latin1')
    : raw;

const octetsOf = ({ content }: Attachment): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content as ArrayBuffer);

const reportIn = (text: string, now: number, about: string | null): AggregateReport | null => {
  const start = text.trimStart();
  if (start.startsWith('<')) return readDmarcReport(start, now);
  return start.startsWith('{') ? readTlsReport(start, now, about) : null;
};

/** The domain in the header of a mail with a TLS report (RFC 8460 5.3). */
const domainNamedBy = ({ headers, subject }: Email): string | null =>
  headers.find(({ key }) => key === 'tls-report-domain')?.value ??
  /^report domain: {0,4}(\S{1,253})/i.exec(subject ?? '')?.[1] ??
  null;

const DECLARED = /^[^>]{0,100}encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/;

/**
 * The text of a file, by its byte order mark or by the encoding that it declares; octets that are none become
 * U+FFFD.
 */
function textOf(octets: Uint8Array): string {
  if (octets[0] === 0xff && octets[1] === 0xfe) return new TextDecoder('utf-16le').decode(octets);
  if (octets[0] === 0xfe && octets[1] === 0xff) return new TextDecoder('utf-16be').decode(octets);
  const declared = DECLARED.exec(Buffer.from(octets.subarray(0, 200)).toString('latin1'))?.[1];
  const isLatin = declared !== undefined && /^(iso-8859-1|latin1|windows-1252|us-ascii)$/i.test(declared);
  return new TextDecoder(isLatin ? 'windows-1252' : 'utf-8').decode(octets);
}
