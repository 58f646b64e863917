import { Type } from '@sinclair/typebox';
import { JSON_TYPE } from '../../http/body/media-type.ts';
import { messageFrames } from '../../http/listen/message-frame.ts';
import { withCount } from '../../http/lists/count.ts';
import { type Call, type Route, route } from '../../http/request/route.ts';
import { LARGEST_MESSAGE } from '../../mail/message/message-size.ts';
import { EmailReceipt } from '../emails/queries.ts';
import { type AnswerDeps, answerReceived, ReplyBody } from './answer.ts';
import { deleteReceived, type ReceivedCommands, receiveTest, redeliverReceived } from './commands.ts';
import { ReceivedDetail, ReceivedItem, ReceivedQuery, TestMessage, TestQuery } from './model.ts';
import {
  countReceived,
  listReceived,
  type ReceivedFilter,
  type ReceivedReader,
  receivedDetail,
  receivedFile,
  receivedRaw,
} from './queries.ts';

const RECEIVED_ID = { prefix: 'rcv', resource: 'received message' } as const;

const ITEM: ReceivedItem = {
  id: 'rcv_01m7xj1rwzprnwr10308attx',
  livemode: true,
  routeId: 'inr_01m7xj1rwzprnwr10308attx',
  status: 'posted',
  envelope: { from: 'ada@customer.example', to: 'support+order-1842@acme.example', tag: 'order-1842' },
  from: 'Ada Lovelace <ada@customer.example>',
  to: ['support+order-1842@acme.example'],
  cc: [],
  replyTo: [],
  subject: 'Re: Your order is on its way',
  date: '2026-11-20T22:43:17.000Z',
  messageId: '<9f2c@customer.example>',
  inReplyTo: '<em_01m7xj1rwzprnwr10308attx@acme.example>',
  authentication: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
  spam: null,
  isAutomatic: false,
  inReplyToEmail: {
    emailId: 'em_01m7xj1rwzprnwr10308attx',
    contactId: 'con_01m7xj1rwzprnwr10308attx',
    campaignId: null,
    flowRunId: null,
  },
  threadId: 'thr_5d0b4a1be2f75c0a9c6e7f10',
  size: 2_310,
  createdAt: '2026-11-20T22:43:19.079Z',
};

const DETAIL: ReceivedDetail = {
  ...ITEM,
  references: ['<em_01m7xj1rwzprnwr10308attx@acme.example>'],
  text: 'It has not come yet.\n',
  html: null,
  replyText: 'It has not come yet.',
  headers: [{ name: 'Subject', value: 'Re: Your order is on its way' }],
  attachments: [
    { index: 0, filename: 'receipt.pdf', contentType: 'application/pdf', size: 1_204, contentId: null },
  ],
  attempts: [
    {
      attempt: 1,
      attemptedAt: '2026-11-20T22:43:19.093Z',
      httpStatus: 200,
      responseBody: 'ok',
      durationMs: 41,
      error: null,
    },
  ],
  nextAttemptAt: null,
  forward: null,
  stopReason: null,
  answers: ['em_01m7xj1rwzprnwr10308atty'],
};

/** The services of these endpoints. */
export type ReceivedDeps = ReceivedCommands & ReceivedReader & AnswerDeps;

/** The endpoint that shows the HTML of a message in an isolated frame of the dashboard. */
export const receivedPages = (deps: ReceivedDeps): readonly Route[] =>
  messageFrames('received', RECEIVED_ID, (call) => receivedDetail(deps, call));

export const receivedRoutes = (deps: ReceivedDeps): readonly Route[] => [
  ...withCount(
    { name: 'countReceivedEmails', summary: 'Count received email' },
    (call: Call<unknown, ReceivedFilter>) => countReceived(deps, call),
    [
      route('GET /v1/received', {
        name: 'listReceivedEmails',
        permission: 'emails:read',
        summary: 'List received email',
        description:
          'Newest first; what inbound routes took, one item for each recipient. It is kept as long as email that was sent.',
        query: ReceivedQuery,
        response: Type.Array(ReceivedItem),
        example: { response: [ITEM] },
        handle: (call) => listReceived(deps, call),
      }),
    ],
  ),
  route('POST /v1/received/test', {
    name: 'simulateReceivedEmail',
    permission: 'emails:send',
    summary: 'Receive a test email',
    description:
      'Passes a message to the inbound routes of the test environment, as the SMTP port does for live ones: it is read, stored and posted. The body is `{from, to, subject, text}`, or a whole message as `message/rfc822` with the envelope in `from` and `to` of the query. Only for test keys. The same message to the same recipient within a day is stored once, and answered as the first time.',
    mediaTypes: [JSON_TYPE, 'message/rfc822'],
    query: TestQuery,
    body: Type.Unsafe<TestMessage | Uint8Array>(TestMessage),
    bodyLimit: LARGEST_MESSAGE,
    response: ReceivedItem,
    status: 201,
    failures: ['FORBIDDEN'],
    example: {
      body: {
        from: 'ada@customer.example',
        to: 'support@acme.example',
        subject: 'A question',
        text: 'Where is my order?',
      },
      response: { ...ITEM, livemode: false, status: 'posting' },
    },
    handle: (call) => receiveTest(deps, call),
  }),
  route('GET /v1/received/:id', {
    name: 'getReceivedEmail',
    permission: 'emails:read',
    summary: 'Get a received email with its content',
    description:
      'Its envelope, header, text, html and files, and the attempts to post it. The html is that of a stranger: never show it outside a sandbox.',
    params: { id: RECEIVED_ID },
    response: ReceivedDetail,
    example: { response: DETAIL },
    handle: (call) => receivedDetail(deps, call),
  }),
  route('GET /v1/received/:id/raw', {
    name: 'getRawReceivedEmail',
    permission: 'emails:read',
    summary: 'Get a received email as it came',
    description: 'Every octet of the message, as a download.',
    params: { id: RECEIVED_ID },
    response: Type.String({ description: 'The message.' }),
    responseType: 'message/rfc822',
    example: {
      response:
        'From: Ada Lovelace <ada@customer.example>\r\nTo: support@acme.example\r\nSubject: A question\r\n\r\nWhere is my order?\r\n',
    },
    handle: (call) => receivedRaw(deps, call),
  }),
  route('GET /v1/received/:id/attachments/:index', {
    name: 'getReceivedAttachment',
    permission: 'emails:read',
    summary: 'Get one file of a received email',
    description: 'As a download, with the media type that its sender states.',
    params: { id: RECEIVED_ID, index: { text: 'Its `index` in `attachments`, from 0.' } },
    response: Type.String({ description: 'The file.' }),
    responseType: 'application/octet-stream',
    example: { response: '%PDF-1.7 …' },
    handle: (call) => receivedFile(deps, call),
  }),
  route('DELETE /v1/received/:id', {
    name: 'deleteReceivedEmail',
    audit: { action: 'received.deleted' },
    permission: 'emails:send',
    summary: 'Delete a received email',
    description:
      'For good, with its content. It is posted no more; an attempt that is under way may still arrive.',
    params: { id: RECEIVED_ID },
    handle: (call) => deleteReceived(deps, call),
  }),
  route('POST /v1/received/:id/redeliver', {
    name: 'redeliverReceivedEmail',
    audit: { action: 'received.redelivered' },
    permission: 'emails:send',
    summary: 'Post or forward a received email again',
    description:
      'To the present URL or targets of its route, at once, whatever its status, with all retries. The `id` of the event stays the same, so that receivers know it again.',
    params: { id: RECEIVED_ID },
    response: ReceivedItem,
    failures: ['CONFLICT'],
    example: { response: { ...ITEM, status: 'posting' } },
    handle: (call) => redeliverReceived(deps, call),
  }),
  route('POST /v1/received/:id/reply', {
    name: 'sendReceivedEmailReply',
    permission: 'emails:send',
    summary: 'Answer a received email',
    description:
      'The body of a send without `to` and `subject`: the answer goes to the Reply-To of the message (at most five addresses), or else to its From, in its thread (In-Reply-To, References), with one `Re:` before the subject. It is an email as any other: limits, suppressions and idempotency are those of `POST /v1/emails`. Mail that no person wrote cannot be answered. With `replyTo: "auto"` the next message of the person finds the answer.',
    params: { id: RECEIVED_ID },
    body: ReplyBody,
    bodyLimit: 31_457_280,
    headers: ['x-svc-test-clock', 'x-svc-simulate'],
    response: EmailReceipt,
    status: 202,
    failures: ['FORBIDDEN', 'CONFLICT', 'QUOTA_EXCEEDED'],
    example: {
      body: { from: 'Acme <support@acme.example>', text: 'It is on its way.', replyTo: 'auto' },
      response: {
        id: 'em_01m7xj1rwzprnwr10308atty',
        livemode: true,
        status: 'sending',
        scheduledAt: null,
        createdAt: '2026-11-20T23:02:11.414Z',
      },
    },
    handle: (call) => answerReceived(deps, call),
  }),
];
