import PostalMime, { type Attachment, type Email } from 'postal-mime';

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
  PostalMime.parse(raw, { forceRfc822Attachments: true }).then(partsOf, () => null);

const partsOf = ({ headers, text, html, attachments }: Email): MailParts => ({
  headers: headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
  text: text ?? null,
  html: html ?? null,
  attachments: attachments.map(fileOf),
});

const fileOf = ({ filename, mimeType, contentId, content }: Attachment): MailFile => ({
  filename,
  contentType: mimeType,
  contentId: contentId?.replace(/^<(.*)>$/, '$1') ?? null,
  size: typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength,
});
