/** The facts of a message as three readers find them, in a form that can be compared. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AddressObject, type Attachment, type ParsedMail, simpleParser } from 'mailparser';
import { readFile } from '../../../src/mail/raw/read-raw.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';

export const FIELDS = ['subject', 'from', 'to', 'cc', 'date', 'messageId', 'text', 'html', 'files'] as const;

/** Texts without runs of white space, addresses in lower case, files as their types and hashes. */
export type Facts = Readonly<Record<(typeof FIELDS)[number], string>>;

const plain = (text: string | false | null | undefined): string =>
  (text || '')
    .normalize('NFC')
    .replace(/[\s\u00a0\ufeff]+/g, ' ')
    .trim();
const listed = (addresses: readonly (string | undefined)[]): string =>
  addresses.filter(Boolean).join().toLowerCase();
const hashed = (octets: Uint8Array): string => new Bun.CryptoHasher('sha256').update(octets).digest('hex');

/** A message in a message is compared by none: Python writes it again. */
const filesOf = (files: readonly { readonly type: string; readonly sha256: string }[]): string =>
  files
    .filter(({ type }) => !type.startsWith('message/'))
    .map(({ type, sha256 }) => `${type.split(' ')[0]} ${sha256.slice(0, 12)}`)
    .join();

/** The facts as this service reads them. */
export async function readByUs(raw: Buffer): Promise<Facts> {
  const mail = await readReceived(raw);
  const files = await Promise.all(
    mail.attachments.map(async ({ contentType }, at) => ({
      type: contentType,
      sha256: hashed((await readFile(raw, at))?.octets ?? new Uint8Array()),
    })),
  );
  return {
    subject: plain(mail.subject),
    from: listed([mail.from?.address]),
    to: listed(mail.to.map(({ address }) => address)),
    cc: listed(mail.cc.map(({ address }) => address)),
    date: mail.date?.slice(0, 19) ?? '',
    messageId: plain(mail.messageId),
    text: plain(mail.text),
    html: plain(mail.html),
    files: filesOf(files),
  };
}

const OPTIONS = { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true, skipTextLinks: true };

const inFields = (fields: AddressObject | AddressObject[] | undefined): (string | undefined)[] =>
  [fields ?? []]
    .flat()
    .flatMap(({ value }) => value)
    .flatMap((one) => one.group ?? [one])
    .map(({ address }) => address);

/** The same by mailparser; null where it throws. */
export async function readByMailparser(raw: Buffer): Promise<Facts | null> {
  const mail: ParsedMail | null = await simpleParser(raw, { ...OPTIONS, keepCidLinks: true }).catch(
    () => null,
  );
  if (mail === null) return null;
  const { date } = mail;
  return {
    subject: plain(mail.subject),
    from: listed(inFields(mail.from).slice(0, 1)),
    to: listed(inFields(mail.to)),
    cc: listed(inFields(mail.cc)),
    date: date && !Number.isNaN(date.getTime()) ? date.toISOString().slice(0, 19) : '',
    messageId: plain(mail.messageId),
    text: plain(mail.text),
    html: plain(mail.html),
    files: filesOf(
      mail.attachments.map(({ contentType, content }: Attachment) => ({
        type: contentType,
        sha256: hashed(content),
      })),
    ),
  };
}

interface OfPython {
  readonly subject: string | null;
  readonly from: string[] | null;
  readonly to: string[] | null;
  readonly cc: string[] | null;
  readonly date: string | null;
  readonly messageId: string | null;
  readonly text: string;
  readonly html: string;
  readonly files: readonly { readonly type: string; readonly sha256: string }[];
}

/** The same by Python's email package, of all messages in one process. */
export async function readByPython(messages: readonly Buffer[]): Promise<readonly (Facts | null)[]> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-shapes-'));
  try {
    const paths = messages.map((_, at) => join(folder, `${at}.eml`));
    for (const [at, raw] of messages.entries()) await writeFile(paths[at] as string, raw);
    const script = new URL('read_mails.py', import.meta.url).pathname;
    const child = Bun.spawn(['python3', script], {
      stdin: Buffer.from(`${paths.join('\n')}\n`),
      stdout: 'pipe',
      stderr: 'inherit',
    });
    const lines = (await new Response(child.stdout).text()).trim().split('\n');
    return lines.map((line) => {
      const mail = JSON.parse(line) as OfPython | null;
      return mail && factsOf(mail);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const factsOf = ({ from, to, cc, date, files, ...mail }: OfPython): Facts => ({
  subject: plain(mail.subject),
  from: listed((from ?? []).slice(0, 1)),
  to: listed(to ?? []),
  cc: listed(cc ?? []),
  date: date?.slice(0, 19) ?? '',
  messageId: plain(mail.messageId),
  text: plain(mail.text),
  html: plain(mail.html),
  files: filesOf(files),
});
