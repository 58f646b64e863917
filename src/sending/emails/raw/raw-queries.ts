import type { EmailContext } from '../../../../machines/email/context.ts';
import { readLife } from '../../../engine/store/actors.ts';
import { type Call, RawResponse } from '../../../http/request/route.ts';
import type { MailReader } from '../../../mail/reading/mail-reader.ts';
import { BodyLost, type BodyStore } from '../../../platform/bodies/body-store.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Failure, notFound } from '../../../platform/errors/failure.ts';
import { wholeEnvelope } from '../accept/message.ts';
import { bringBack } from '../bodies/content-bodies.ts';
import { canonical } from '../feedback/verdict.ts';
import { emailKind } from '../kind.ts';
import { readDetail } from '../read/detail.ts';
import type { LeftMessage } from './left-message.ts';

/** The services that show messages and their files as octets. */
export interface OctetReader {
  readonly database: Database;
  readonly bodies: BodyStore | null;
  readonly mailReader: Pick<MailReader, 'file'>;
  readonly leftMessage: LeftMessage;
}

type EmailCall = Call<{ readonly id: string }, { readonly recipient?: string | undefined }>;

const GONE = new Failure('NOT_FOUND', 'The content of this email is not kept any more.');

/** The message as it leaves or has left for one of its recipients, the first one by default. */
export async function emailAsSent(
  { database, leftMessage }: OctetReader,
  { caller, params: { id }, query }: EmailCall,
): Promise<RawResponse | Failure> {
  const row = await readDetail(database, caller, id);
  const life = row && (await readLife(database, emailKind, id, caller));
  if (!row || !life) return notFound('email');
  const { to, cc, bcc } = wholeEnvelope(id, row.envelope);
  const wanted = query.recipient === undefined ? null : canonical(query.recipient);
  const recipient = [...to, ...cc, ...bcc].findIndex(
    ({ address }) => wanted === null || canonical(address) === wanted,
  );
  if (recipient === -1) return notFound('recipient');
  const message = await leftMessage(
    { id, workspaceId: caller.workspaceId, livemode: caller.livemode },
    life.context as EmailContext,
    recipient,
  ).catch(goneWith);
  if (message === null) return GONE;
  return messageResponse(id, message);
}

/** One file of an email, numbered from 0 as the email lists them. */
export async function emailFile(
  { database, bodies, mailReader }: OctetReader,
  { caller, params: { id, number } }: Call<{ readonly id: string; readonly number: string }>,
): Promise<RawResponse | Failure> {
  const row = await readDetail(database, caller, id);
  if (!row) return notFound('email');
  if (!/^\d{1,5}$/.test(number)) return notFound('attachment');
  const content = await bringBack(bodies, row.content, 'whole').catch(goneWith);
  if (content === null) return GONE;
  const at = Number(number);
  if (content.raw) {
    const file = await mailReader.file(content.raw.octets, at, caller.workspaceId);
    return file ? fileResponse(file, file.octets) : notFound('attachment');
  }
  const file = wholeEnvelope(id, row.envelope).attachments[at];
  const base64 = content.attachments[at];
  return file && base64 !== undefined
    ? fileResponse(file, Buffer.from(base64, 'base64'))
    : notFound('attachment');
}

const goneWith = (error: unknown): null => {
  if (error instanceof BodyLost) return null;
  throw error;
};

/** A file is what its sender says it is: a browser must neither run nor guess it. */
const DOWNLOAD = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
} as const;

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/** The answer with a whole message, which is downloaded and never shown. */
export const messageResponse = (id: string, message: Uint8Array): RawResponse =>
  new RawResponse('message/rfc822', message as Buffer<ArrayBuffer>, {
    headers: { ...DOWNLOAD, 'content-disposition': `attachment; filename="${id}.eml"` },
  });

/** The answer with a file of a message. */
export const fileResponse = (
  { filename, contentType }: { readonly filename: string; readonly contentType: string },
  octets: Uint8Array,
): RawResponse => {
  const [type = ''] = contentType.split(';', 1);
  // RFC 6266 4.3 and RFC 8187 3.2.
  const name = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return new RawResponse(
    MEDIA_TYPE.test(type) ? type : 'application/octet-stream',
    octets as Uint8Array<ArrayBuffer>,
    { headers: { ...DOWNLOAD, 'content-disposition': `attachment; filename*=UTF-8''${name}` } },
  );
};
