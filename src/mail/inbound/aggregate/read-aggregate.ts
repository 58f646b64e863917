import PostalMime, { type Attachment, type Email } from 'postal-mime';
import type { AggregateReport } from './aggregate-report.ts';
import { readDmarcReport } from './dmarc-report.ts';
import { readTlsReport } from './tls-report.ts';
import { unpack } from './unpack.ts';

/** Files of a mail that are looked at. A report is one file. */
const MOST_FILES = 5;

/** The report in a mail to the address for aggregate reports; null where there is none that can be read. It never throws. */
export async function readAggregate(raw: Buffer, now: number): Promise<AggregateReport | null> {
  const email = await PostalMime.parse(raw, LIMITS).catch(() => null);
  if (email === null) return null;
  for (const octets of filesOf(email)) {
    const content = unpack(octets);
    const report = content === null ? null : reportIn(textOf(content), now);
    if (report !== null) return report;
  }
  return null;
}

const LIMITS = { forceRfc822Attachments: true, maxNestingDepth: 20, maxHeadersSize: 262_144 };

/** The attached files; the text itself may be the report, where a server attaches none. */
const filesOf = ({ attachments, text }: Email): readonly Uint8Array[] => [
  ...attachments.slice(0, MOST_FILES).map(octetsOf),
  ...(text === undefined ? [] : [Buffer.from(text)]),
];

const octetsOf = ({ content }: Attachment): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content as ArrayBuffer);

const reportIn = (text: string, now: number): AggregateReport | null => {
  const start = text.slice(0, 200).trimStart();
  if (start.startsWith('<')) return readDmarcReport(text, now);
  return start.startsWith('{') ? readTlsReport(text, now) : null;
};

const DECLARED = /^[^>]{0,100}encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/;

/** The text of a file, by its byte order mark or by the encoding that it declares; octets that are none become U+FFFD. */
function textOf(octets: Uint8Array): string {
  if (octets[0] === 0xff && octets[1] === 0xfe) return new TextDecoder('utf-16le').decode(octets);
  if (octets[0] === 0xfe && octets[1] === 0xff) return new TextDecoder('utf-16be').decode(octets);
  const declared = DECLARED.exec(Buffer.from(octets.subarray(0, 200)).toString('latin1'))?.[1];
  const isLatin = declared !== undefined && /^(iso-8859-1|latin1|windows-1252|us-ascii)$/i.test(declared);
  return new TextDecoder(isLatin ? 'windows-1252' : 'utf-8').decode(octets);
}
