import { Type } from '@sinclair/typebox';
import { type Call, type RawResponse, type Route, route } from '../../../http/request/route.ts';
import { LARGEST_MESSAGE } from '../../../mail/message/message-size.ts';
import { NotSubmittable } from '../../../mail/raw/raw-mail.ts';
import type { MailReader } from '../../../mail/reading/mail-reader.ts';
import { MOST_SUBMITTED } from '../../../mail/submission/envelope.ts';
import type { MailRoom } from '../../../mail/submission/mail-room.ts';
import { FairQueue } from '../../../platform/async/fair-slots.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { SendBody } from '../accept/request-model.ts';
import { type Acceptance, type AcceptanceDeps, acceptEmail } from '../accept.ts';
import { onNamedClock } from '../clocked/clock-of-email.ts';
import { RECEIPT } from '../examples.ts';
import { EmailReceipt } from '../read/answer-model.ts';
import { refusalOfHeader, withNamedScript } from '../simulator/named-script.ts';
import { type ArrivedMessage, takeMessage } from './arriving-message.ts';
import { emailAsSent, emailFile, type OctetReader } from './raw-queries.ts';

const RawQuery = Type.Object({
  recipients: Type.Optional(
    Type.Array(Type.String({ maxLength: 1_024 }), {
      minItems: 1,
      maxItems: MOST_SUBMITTED,
      description: `A recipient; repeat the parameter for more, at most ${MOST_SUBMITTED}. Default: all addresses in To, Cc and Bcc of the message.`,
    }),
  ),
  scheduledAt: Type.Optional(
    Type.String({
      description:
        'The time to send: ISO 8601 with an offset or Z, at most 30 days ahead. A time up to 60 seconds ago means now.',
    }),
  ),
  trackOpens: Type.Optional(
    Type.Boolean({ description: 'True records opens, by an image in its html. Default: false.' }),
  ),
  trackClicks: Type.Optional(
    Type.Boolean({ description: 'True records clicks, by links in its html. Default: false.' }),
  ),
  tag: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,256}:[A-Za-z0-9_-]{1,256}$',
      description: 'A label, `name:value`.',
    }),
  ),
});

type RawCall = Call<unknown, typeof RawQuery.static, ArrivedMessage>;

/** The services that accepting a raw message calls. */
interface RawAcceptance extends AcceptanceDeps {
  readonly mailReader: Pick<MailReader, 'raw'>;
  readonly mailRoom: MailRoom;
  /** The name of this server in trace fields. */
  readonly serverName: string;
}

const TOO_MANY_READS = () =>
  new UnavailableError('Too many messages are being read; ask again in a moment.', 'no', 5);
/**
 * Messages that are read for an answer at once, workspaces in turn, and those that wait: each may have 25
 * MiB.
 */
const READS = { total: 4, perKey: 4, backlog: 64, isWorkConserving: true };

const TOO_MANY_LARGE = () =>
  new UnavailableError('Too many large messages wait to be stored; send it again in a moment.', 'no', 5);

/** Sends or schedules a message that stays what it is, at its workspace's turn where it is large. */
async function sendRaw(deps: RawAcceptance, call: RawCall): Promise<Acceptance> {
  const { caller, query, body, headers } = call;
  const { tag, scheduledAt, trackOpens, trackClicks } = query;
  const [name = '', value = ''] = tag?.split(':') ?? [];
  const wishes: SendBody = {
    to: [],
    ...(scheduledAt !== undefined && { scheduledAt }),
    ...(trackOpens !== undefined && { trackOpens }),
    ...(trackClicks !== undefined && { trackClicks }),
    ...(tag !== undefined && { tags: [{ name, value }] }),
  };
  const asked = withNamedScript(onNamedClock(wishes, headers), headers);
  const refused = refusalOfHeader(caller, headers, asked);
  if (refused) return refused;
  const turn = { octets: body.octets.length, signal: () => call.unheard?.() };
  const accepted = await deps.mailRoom.take(caller.workspaceId, () => acceptRaw(deps, call, asked), turn);
  if (accepted === null) throw TOO_MANY_LARGE();
  return accepted;
}

async function acceptRaw(deps: RawAcceptance, call: RawCall, asked: SendBody): Promise<Acceptance> {
  const { caller, query, body, claim, now, client } = call;
  const { recipients = null } = query;
  const mail = await deps.mailReader.raw(body.octets, caller.workspaceId);
  if (mail instanceof NotSubmittable)
    return mail.status === '5.3.4'
      ? new Failure('PAYLOAD_TOO_LARGE', `${mail.reason}.`)
      : invalidAt('/body', `${mail.reason}.`);
  const came = { helo: null, client, by: deps.serverName, protocol: 'HTTP' };
  return acceptEmail(deps, {
    sender: caller,
    body: asked,
    raw: { mail, recipients, came },
    claim,
    now,
    at: '/body',
    unheard: call.unheard,
    isGivenUp: call.isGivenUp,
  });
}

const EMAIL_ID = { prefix: 'em', resource: 'email' } as const;
const Octets = (description: string) =>
  Type.Unsafe<ArrivedMessage>({ type: 'string', format: 'binary', description });

/** The services of these endpoints. */
export type RawDeps = RawAcceptance & OctetReader & { readonly mailReader: Pick<MailReader, 'raw' | 'file'> };

/** The endpoints of messages and files as octets. */
export function rawEmailRoutes(deps: RawDeps): readonly Route[] {
  const turns = new FairQueue(READS);
  const reads = async ({ caller }: Pick<RawCall, 'caller'>, read: () => Promise<RawResponse | Failure>) => {
    const answer = await turns.take(caller.workspaceId, read);
    if (answer === null) throw TOO_MANY_READS();
    return answer;
  };
  return [
    route('POST /v1/emails/raw', {
      name: 'sendRawEmail',
      permission: 'emails:send',
      judgesCaller: true,
      summary: 'Send or schedule a finished message',
      description:
        'The body is a whole message (RFC 5322), at most 25 MiB and 1,000 header fields. It is sent unchanged, with few exceptions: Bcc, Return-Path, X-Svc- fields, commands to relays and signatures of its domain are removed; a Received field and a missing Date, Message-ID or MIME-Version are added; line ends that SMTP cannot carry are replaced. Its From must be at a verified domain. The html part changes only when the request asks for tracking or an unsubscribe link, and never when it is signed, encrypted or within another message.',
      query: RawQuery,
      mediaTypes: ['message/rfc822'],
      body: Octets('The message.'),
      bodyLimit: LARGEST_MESSAGE,
      headers: ['x-svc-test-clock', 'x-svc-simulate'],
      response: EmailReceipt,
      status: 202,
      failures: ['FORBIDDEN', 'NOT_FOUND', 'QUOTA_EXCEEDED'],
      example: { response: RECEIPT },
      receive: (pieces, { caller }) => takeMessage(pieces, deps.mailRoom, caller.workspaceId),
      handle: (call) => sendRaw(deps, call),
    }),
    route('GET /v1/emails/:id/raw', {
      name: 'getRawEmail',
      permission: 'emails:read',
      summary: 'Get the message as it was sent',
      description:
        'The octets for one recipient, with header and signatures, as they are or were sent, while the content is kept. Personal links of the recipient are disabled in it.',
      params: { id: EMAIL_ID },
      query: Type.Object({
        recipient: Type.Optional(
          Type.String({ maxLength: 320, description: 'One of its recipients. Default: the first.' }),
        ),
      }),
      response: Type.String({ description: 'The message.' }),
      responseType: 'message/rfc822',
      example: {
        response:
          'From: Acme <hello@acme.example>\r\nTo: ada@example.com\r\nSubject: Your order is on its way\r\n\r\nIt left our warehouse this morning.\r\n',
      },
      handle: (call) => reads(call, () => emailAsSent(deps, call)),
    }),
    route('GET /v1/emails/:id/attachments/:number', {
      name: 'getEmailAttachment',
      permission: 'emails:read',
      summary: 'Get one file of an email',
      description: 'With the media type from its sender, while the content is kept.',
      params: { id: EMAIL_ID, number: { text: 'Its place in `attachments` of the email, from 0.' } },
      response: Type.String({ description: 'The file.' }),
      responseType: 'application/octet-stream',
      example: { response: '%PDF-1.7 …' },
      handle: (call) => reads(call, () => emailFile(deps, call)),
    }),
  ];
}
