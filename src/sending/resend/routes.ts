import { type Static, Type } from '@sinclair/typebox';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { type Call, type Route, route } from '../../http/request/route.ts';
import { compileChecker } from '../../http/request/schema.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import { refusalOf } from '../emails/accept.ts';
import { type BatchDeps, batchSender, cancelEmail, rescheduleEmail, sendEmail } from '../emails/commands.ts';
import { emailDetail, SendBody } from '../emails/queries.ts';
import { answerOf, errorBody, foreignFailure, inItsNames, sentenceOf, shown } from './answers.ts';
import { octetsInBase64 } from './octet-lists.ts';
import { ResendEmail, sendBodyOf } from './request.ts';

/** The base URL that the package is configured with: `new Resend(key, { baseUrl: '…/compat/resend' })`. */
const BASE = '/compat/resend';

const EMAIL_ID = { prefix: 'em', resource: 'email' } as const;
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const;
/** The limit of the endpoints that these stand in for. */
const BODY_LIMIT = 31_457_280;
const MOST_EMAILS = 100;

const Batch = Type.Array(ResendEmail, { minItems: 1, maxItems: MOST_EMAILS });

/** The common options of these endpoints: handlers write the answers, `errorBody` writes the refusals. */
const common = { errorBody, response: Type.Unknown(), status: 200 } as const;

/** The endpoints that the package calls to send, read, move and cancel emails. */
export function resendRoutes(deps: BatchDeps): readonly Route[] {
  const check = compileChecker(SendBody);
  const sendBatch = batchSender(deps);

  /** The email in the form of this service, or the problems that its schema finds. */
  function read(email: ResendEmail, at: string): SendBody | Failure {
    const body = sendBodyOf(email);
    const details = check(body, at);
    return details ? foreignFailure(invalid(details)) : body;
  }

  /**
   * By default the package wants all or nothing: the first refusal that acceptance would give, before
   * anything is accepted.
   */
  async function firstRefusal(
    { caller, now, unheard }: Call,
    emails: readonly SendBody[],
  ): Promise<Failure | null> {
    for (const [index, body] of emails.entries()) {
      const at = `/body/emails/${index}`;
      const details = check(body, at);
      const refusal = details
        ? invalid(details)
        : await refusalOf(deps, { sender: caller, body, claim: null, now, at, unheard });
      if (refusal) return refusal;
    }
    return null;
  }

  return [
    route(`POST ${BASE}/emails`, {
      ...common,
      permission: 'emails:send',
      summary: 'Send an email with the package `resend`',
      body: ResendEmail,
      bodyLimit: BODY_LIMIT,
      shortened: octetsInBase64,
      async handle(call) {
        const body = read(call.body, '/body');
        if (body instanceof Failure) return body;
        const accepted = await sendEmail(deps, { ...call, body });
        return answerOf(accepted, call.caller.livemode, ({ id }: { readonly id: string }) => ({ id }));
      },
    }),
    route(`POST ${BASE}/emails/batch`, {
      ...common,
      permission: 'emails:send',
      summary: 'Send several emails with the package `resend`',
      body: Batch,
      bodyLimit: BODY_LIMIT,
      shortened: octetsInBase64,
      async handle(call: Call<unknown, unknown, Static<typeof Batch>>) {
        const emails = call.body.map(sendBodyOf);
        if (call.headers.get('x-batch-validation') !== 'permissive') {
          const refusal = await firstRefusal(call, emails);
          // A request that was accepted under the key gets the same answer again, even where it would be
          // refused today.
          const earlier =
            refusal && (await idempotently(deps.database, keyedBy(call), { run: async () => refusal }));
          if (earlier instanceof Failure) return foreignFailure(earlier);
        }
        const sent = await sendBatch({ ...call, body: { emails } });
        return answerOf(sent, call.caller.livemode, batchShown);
      },
    }),
    route(`GET ${BASE}/emails/receiving`, {
      ...common,
      // The list of received mail of the package, which is no id of an email.
      permission: 'any key',
      takesAnything: true,
      summary: 'Refuse the list of received mail of the package `resend`',
      handle: () => ELSEWHERE,
    }),
    route(`GET ${BASE}/emails/:id`, {
      ...common,
      permission: 'emails:read',
      summary: 'Get an email with the package `resend`',
      params: { id: EMAIL_ID },
      handle: async (call) => answerOf(await emailDetail(deps, call), call.caller.livemode, shown),
    }),
    route(`PATCH ${BASE}/emails/:id`, {
      ...common,
      permission: 'emails:send',
      summary: 'Reschedule an email with the package `resend`',
      params: { id: EMAIL_ID },
      body: Type.Object({ scheduled_at: Type.String() }, { additionalProperties: false }),
      async handle(call) {
        const body = { scheduledAt: call.body.scheduled_at };
        return answerOf(await rescheduleEmail(deps, { ...call, body }), call.caller.livemode, named);
      },
    }),
    route(`POST ${BASE}/emails/:id/cancel`, {
      ...common,
      permission: 'emails:send',
      summary: 'Cancel an email with the package `resend`',
      params: { id: EMAIL_ID },
      handle: async (call) => answerOf(await cancelEmail(deps, call), call.caller.livemode, named),
    }),
    ...METHODS.map((method) =>
      route(`${method} ${BASE}/*`, {
        ...common,
        permission: 'any key',
        takesAnything: true,
        summary: 'Refuse other requests of the package `resend`',
        handle: () => ELSEWHERE,
      }),
    ),
  ];
}

const ELSEWHERE = new Failure(
  'NOT_FOUND',
  'Posthorn supports only the email calls of this package: send, batch, get, update and cancel.',
  {
    suggestion: 'Use the endpoints under /v1 for everything else: see /docs.',
  },
);

const named = ({ id }: { readonly id: string }) => ({ object: 'email', id });

type BatchItems = Extract<Awaited<ReturnType<ReturnType<typeof batchSender>>>, readonly unknown[]>;

/** The ids of those that were accepted, and a sentence for each that was not. */
function batchShown(items: BatchItems) {
  const errors = items.flatMap((item) =>
    'error' in item ? [{ index: item.index, message: sentenceOf(inItsNames(item.error)) }] : [],
  );
  return {
    data: items.flatMap((item) => ('error' in item ? [] : [{ id: item.id }])),
    ...(errors.length > 0 && { errors }),
  };
}
