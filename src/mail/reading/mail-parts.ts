import type { Email } from 'postal-mime';
import { filesOf, type MessageFile } from '../raw/message-files.ts';
import { parseMessage } from '../raw/repair/parsable.ts';

/** The parts of a message as a mail program shows them. */
export interface MailParts {
  readonly headers: { readonly name: string; readonly value: string }[];
  readonly text: string | null;
  readonly html: string | null;
  readonly attachments: MailFile[];
}

interface MailFile {
  readonly filename: string | null;
  readonly contentType: string;
  readonly contentId: string | null;
  /** Size in octets. */
  readonly size: number;
}

/** Parses a message; null when its parts are nested too deeply. */
export const readParts = (raw: Buffer): Promise<MailParts | null> =>
  parseMessage(raw, { forceRfc822Attachments: true }).then((email) => email && partsOf(email, raw));

const partsOf = (email: Email, raw: Buffer): MailParts => ({
  headers: email.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
  text: email.text ?? null,
  html: email.html ?? null,
  attachments: filesOf(email, raw).map(fileOf),
});

const fileOf = ({ described: { filename, mimeType, contentId }, octets }: MessageFile): MailFile => ({
  filename,
  contentType: mimeType,
  contentId: contentId?.replace(/^<(.*)>$/, '$1') ?? null,
  size: octets.byteLength,
});
