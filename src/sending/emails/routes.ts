import { Type } from '@sinclair/typebox';
import { messageFrames } from '../../http/listen/message-frame.ts';
import { LONGEST_WAIT, type WantedMail } from '../../http/listen/waiting.ts';
import { withCount } from '../../http/lists/count.ts';
import { withCsv } from '../../http/lists/list-csv.ts';
import { type Call, type Route, route } from '../../http/request/route.ts';
import type { WaitingRoom } from '../../platform/async/waiting-room.ts';
import { RescheduleBody, SendBody } from './accept/request-model.ts';
import type { AcceptanceDeps } from './accept.ts';
import { cancelEmail, rescheduleEmail, sendEmail } from './commands.ts';
import { AWAITED, DETAIL, EVENTS, EXPLANATION, ITEM, RECEIPT, SCHEDULED, SEND_BODY } from './examples.ts';
import { explanationOf } from './explain/explain-query.ts';
import {
  type EmailLister,
  type EmailReader,
  emailCount,
  emailDetail,
  emailEvents,
  listEmails,
} from './queries.ts';
import { EmailDetail, EmailItem, EmailReceipt, Explanation } from './read/answer-model.ts';
import { EmailEvent } from './read/event-model.ts';
import type { EmailFilter } from './read/page.ts';
import { EmailQuery } from './read/query-model.ts';
import { awaitEmail } from './wait/wait-for-email.ts';
import { AwaitedEmail, EmailWaitQuery } from './wait/wait-model.ts';

const EMAIL_ID = { prefix: 'em', resource: 'email' } as const;

/** The frame in which the dashboard shows an email. */
export const emailFrames = (deps: EmailReader): readonly Route[] =>
  messageFrames('emails', EMAIL_ID, (call) => emailDetail(deps, call));

/** Those who wait for emails. */
export interface WaitingRoomDeps {
  readonly waiting: WaitingRoom<WantedMail>;
}

export const emailRoutes = (
  deps: AcceptanceDeps & EmailReader & EmailLister & WaitingRoomDeps,
): readonly Route[] => [
  route('POST /v1/emails', {
    name: 'sendEmail',
    permission: 'emails:send',
    judgesCaller: true,
    summary: 'Send or schedule an email',
    description:
      'A reply of 202 means that the email is stored for good. With a test key everything happens but the sending; the address of the recipient chooses the outcome.',
    body: SendBody,
    bodyLimit: 31_457_280,
    headers: ['x-svc-test-clock', 'x-svc-simulate'],
    response: EmailReceipt,
    status: 202,
    failures: ['FORBIDDEN', 'NOT_FOUND', 'QUOTA_EXCEEDED'],
    example: { body: SEND_BODY, response: RECEIPT },
    handle: (call) => sendEmail(deps, call),
  }),
  ...withCount(
    { name: 'countEmails', summary: 'Count emails' },
    (call: Call<unknown, EmailFilter>) => emailCount(deps, call),
    withCsv(
      {
        name: 'exportEmails',
        file: 'emails.csv',
        summary: 'Download emails as CSV',
        action: 'emails.exported',
      },
      route('GET /v1/emails', {
        name: 'listEmails',
        permission: 'emails:read',
        summary: 'List emails',
        description:
          "Newest first; only emails of the key's environment. With filters, one request looks at some ten thousand emails at most: a page may then hold fewer than `limit`, even none, while `hasMore` is true; what is further back is found by going on from `nextCursor`. `createdBefore` and `createdAfter` say where to look at once.",
        query: EmailQuery,
        response: Type.Array(EmailItem),
        example: { response: [ITEM] },
        handle: (call) => listEmails(deps, call),
      }),
    ),
  ),
  route('GET /v1/emails/wait', {
    name: 'waitForEmail',
    permission: 'emails:read',
    summary: 'Wait for an email to an address',
    description:
      'Answers with the email, and the links and codes in it, as soon as one to the address was accepted: the newest, or with `since` or `after` the first behind both; one that is scheduled counts. Otherwise, after `timeout` seconds (10, at most 60), 404. The 10,000 newest emails of the environment are looked through; 20 requests of a key, and 200 of all, may wait at once.',
    query: EmailWaitQuery,
    response: AwaitedEmail,
    waitsMs: LONGEST_WAIT * 1_000,
    failures: ['NOT_FOUND'],
    example: { response: AWAITED },
    handle: (call) => awaitEmail(deps.waiting, call, (id) => emailDetail(deps, { ...call, params: { id } })),
  }),
  route('GET /v1/emails/:id', {
    name: 'getEmail',
    permission: 'emails:read',
    summary: 'Get an email with its events',
    description:
      'The email as it was accepted, what became of each recipient, and its content for as long as it is kept.',
    params: { id: EMAIL_ID },
    response: EmailDetail,
    example: { response: DETAIL },
    handle: (call) => emailDetail(deps, call),
  }),
  route('GET /v1/emails/:id/events', {
    name: 'listEmailEvents',
    permission: 'emails:read',
    summary: 'List the events of an email',
    description:
      'Oldest first. The same open, or click on the same link, within ten seconds of the last one is not recorded again, and of each recipient at most a hundred opens and a hundred clicks are. An email with more than a thousand events is shown without its oldest opens and clicks.',
    params: { id: EMAIL_ID },
    response: Type.Array(EmailEvent),
    example: { response: EVENTS },
    handle: (call) => emailEvents(deps, call),
  }),
  route('GET /v1/emails/:id/explain', {
    name: 'explainEmail',
    permission: 'emails:read',
    summary: 'Explain where an email is and why',
    description:
      'The state, the rule that put it there, what is known of every attempt, and what happens next and when.',
    params: { id: EMAIL_ID },
    response: Explanation,
    example: { response: EXPLANATION },
    handle: (call) => explanationOf(deps, call),
  }),
  route('PATCH /v1/emails/:id', {
    name: 'rescheduleEmail',
    permission: 'emails:send',
    summary: 'Reschedule a scheduled email',
    description:
      'Only while it is `scheduled`; one that is due already, or has been sent or cancelled, is 409.',
    params: { id: EMAIL_ID },
    body: RescheduleBody,
    response: EmailReceipt,
    failures: ['CONFLICT'],
    example: { body: { scheduledAt: '2026-11-21T09:30:00Z' }, response: SCHEDULED },
    handle: (call) => rescheduleEmail(deps, call),
  }),
  route('DELETE /v1/emails/:id', {
    name: 'cancelEmail',
    permission: 'emails:send',
    summary: 'Cancel a scheduled email',
    description:
      'Only while it is `scheduled`; otherwise it is 409. It gives its unit of the quota back to the month, in test mode the day, that it was taken from.',
    params: { id: EMAIL_ID },
    response: EmailReceipt,
    failures: ['CONFLICT'],
    example: { response: { ...SCHEDULED, status: 'cancelled' } },
    handle: (call) => cancelEmail(deps, call),
  }),
];
