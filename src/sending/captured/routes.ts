import { Type } from '@sinclair/typebox';
import { messageFrames } from '../../http/listen/message-frame.ts';
import { LONGEST_WAIT, type WantedMail } from '../../http/listen/waiting.ts';
import { withCount } from '../../http/lists/count.ts';
import { type Call, DASHBOARD_API, type Route, route } from '../../http/request/route.ts';
import type { WaitingRoom } from '../../platform/async/waiting-room.ts';
import { CHECK_LIMITS, type ChecksApi, checkAnswer } from '../checks/api.ts';
import { discardAllCaptured, discardCaptured } from './commands.ts';
import {
  AwaitedCapture,
  CapturedDetail,
  CapturedItem,
  CapturedQuery,
  CapturedSpam,
  CapturedWaitQuery,
} from './model.ts';
import {
  type CapturedFilter,
  type CapturedReader,
  capturedDetail,
  capturedSpam,
  checkCaptured,
  countCaptured,
  listCaptured,
} from './queries.ts';
import { awaitCaptured } from './waiting.ts';

const CAPTURED_ID = { prefix: 'cap', resource: 'captured message' } as const;

const ITEM: CapturedItem = {
  id: 'cap_01m7xj1rx757g9bp0f4tggst',
  emailId: 'em_01m7xj1rwzprnwr10308attx',
  recipient: 'ada@example.com',
  from: 'Acme <hello@acme.example>',
  subject: 'Your order is on its way',
  size: 1_204,
  capturedAt: '2026-11-20T22:43:19.079Z',
};

/**
 * The routes of a captured message that only the dashboard uses: the frame with its HTML, and SpamAssassin's
 * verdict.
 */
export const capturedPages = (deps: CapturedReader): readonly Route[] => [
  ...messageFrames('captured', CAPTURED_ID, (call) => capturedDetail(deps, call)),
  route(`GET ${DASHBOARD_API}/live/captured/:id/spam`, {
    permission: 'emails:read',
    credential: 'session',
    principals: ['member'],
    environment: 'live',
    summary: 'Check a captured message with SpamAssassin',
    params: { id: CAPTURED_ID },
    response: CapturedSpam,
    handle: (call) => capturedSpam(deps, call),
  }),
];

/** The services and settings of the endpoints. */
export interface CapturedDeps extends CapturedReader, Pick<ChecksApi, 'check'> {
  readonly waiting: WaitingRoom<WantedMail>;
  /** Previews and checks a minute and client address; 0 is no limit. */
  readonly previewsPerMinute: number;
}

export const capturedRoutes = (deps: CapturedDeps): readonly Route[] => [
  ...withCount(
    { name: 'countCapturedEmails', summary: 'Count captured email' },
    (call: Call<unknown, CapturedFilter>) => countCaptured(deps, call),
    [
      route('GET /v1/captured', {
        name: 'listCapturedEmails',
        permission: 'emails:read',
        summary: 'List captured email',
        description:
          'Newest first. While TRANSPORT is `capture`, live email is composed, signed and stored instead of sent: one copy for each recipient. A test key gets an empty list.',
        query: CapturedQuery,
        response: Type.Array(CapturedItem),
        example: { response: [ITEM] },
        handle: (call) => listCaptured(deps, call),
      }),
    ],
  ),
  route('GET /v1/captured/wait', {
    name: 'waitForCapturedEmail',
    permission: 'emails:read',
    summary: 'Wait for captured email to an address',
    description:
      'Replies as soon as there is a copy for the address: the newest, or with `since` or `after` the first one after both. After `timeout` seconds (10 by default, at most 60) the reply is 404. The 10,000 newest copies are searched; 20 requests of a key, and 200 in total, may wait at once. Test keys are refused, because captured mail is live.',
    query: CapturedWaitQuery,
    response: AwaitedCapture,
    waitsMs: LONGEST_WAIT * 1_000,
    failures: ['NOT_FOUND'],
    example: {
      response: {
        ...ITEM,
        subject: 'Your code is 481 516',
        text: 'Type in 481 516, or open https://acme.example/confirm?t=3vbqk0.',
        html: null,
        links: ['https://acme.example/confirm?t=3vbqk0'],
        codes: ['481516'],
      },
    },
    handle: (call) => awaitCaptured(deps, call),
  }),
  route('GET /v1/captured/:id', {
    name: 'getCapturedEmail',
    permission: 'emails:read',
    summary: 'Get a captured email with its content',
    description: 'The message as a mail server would have received it: headers, text, html and attachments.',
    params: { id: CAPTURED_ID },
    response: CapturedDetail,
    example: {
      response: {
        ...ITEM,
        returnPath: 'b+01m7xj1rwzprnwr10308attx.0.3vbqk0e6zt4n8w1c@acme.example',
        headers: [{ name: 'Subject', value: 'Your order is on its way' }],
        text: 'It left our warehouse this morning.\n',
        html: null,
        attachments: [],
        raw: 'Subject: Your order is on its way\r\n\r\nIt left our warehouse this morning.\r\n',
      },
    },
    handle: (call) => capturedDetail(deps, call),
  }),
  route('GET /v1/captured/:id/check', {
    name: 'checkCapturedEmail',
    permission: 'emails:read',
    summary: 'Check a captured email',
    description: `Finds links that do not answer, what mail programs leave out and more, each with its line in the html. The rules are at /docs/check-messages. ${CHECK_LIMITS}`,
    params: { id: CAPTURED_ID },
    ...checkAnswer(deps.previewsPerMinute),
    handle: (call) => checkCaptured(deps, call),
  }),
  route('DELETE /v1/captured/:id', {
    name: 'deleteCapturedEmail',
    permission: 'emails:send',
    summary: 'Delete a captured email',
    description: 'The email, its events and its content are not deleted.',
    params: { id: CAPTURED_ID },
    handle: (call) => discardCaptured(deps, call),
  }),
  route('DELETE /v1/captured', {
    name: 'deleteCapturedEmails',
    permission: 'emails:send',
    summary: 'Delete all captured email',
    description: 'The copies cannot be restored. The emails are not deleted.',
    handle: (call) => discardAllCaptured(deps, call),
  }),
];
