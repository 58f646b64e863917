import { type Static, Type } from '@sinclair/typebox';
import { CLOSED, FULL, GONE, WaitingRoom, type WaitTarget } from '../../platform/async/waiting-room.ts';
import type { Database } from '../../platform/db/database.ts';
import { type IdPrefix, isId, lowestIdAt } from '../../platform/db/ids.ts';
import { containing } from '../../platform/db/wire/values.ts';
import { type Detail, Failure, invalid, notFound } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { formsOf } from '../../platform/text/address-part.ts';
import type { Call } from '../request/route.ts';

/** Longest wait in seconds. */
export const LONGEST_WAIT = 60;
/** Requests that may wait at once: of one key or member, and of all together. */
export const MOST_WAITING = { each: 20, total: 200 } as const;

/** The query of a wait for mail. The kind of ids that `after` takes is named by `resource`. */
export const waitQuery = (resource: string) =>
  Type.Object(
    {
      to: Type.String({
        maxLength: 320,
        description: 'The recipient (to, cc or bcc), by address.',
        example: 'delivered@simulator.svc.test',
      }),
      subject: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 998,
          description: 'Any part of the subject, ignoring case.',
        }),
      ),
      timeout: Type.Integer({
        minimum: 0,
        maximum: LONGEST_WAIT,
        default: 10,
        description: 'The most seconds to wait; 0 only looks.',
      }),
      since: Type.Optional(
        Type.String({
          format: 'date-time',
          description: 'The first one at or after this time, instead of the newest one.',
        }),
      ),
      after: Type.Optional(
        Type.String({
          maxLength: 60,
          description: `The first one after this ${resource}, by its id, instead of the newest one.`,
        }),
      ),
    },
    { additionalProperties: false },
  );

/** That query. */
export type WaitQuery = Static<ReturnType<typeof waitQuery>>;

/** Mail that is waited for: whose it is and for which address. */
export interface WantedMail extends WaitTarget {
  readonly workspaceId: string;
  readonly livemode: boolean;
  /** The ILIKE pattern for the subject; null for any. */
  readonly subject: string | null;
  /** The forms in which the address may be stored: as it is compared, and as it was written. */
  readonly forms: readonly string[];
  /** True while what is there already is looked through, of which the newest counts. */
  readonly isNewest: boolean;
}

/** The longest time for a statement that stores mail; the id is created before it. */
const COMMIT_MS = 30_000;

/**
 * The requests that wait for mail whose ids have this prefix. `look` is SQL of the number (n) and id of what
 * came, from `$1`, a JSON array of `WantedMail` numbered by `n`, and `$2`, their workspaces.
 */
export const mailWaitingRoom = (
  prefix: IdPrefix,
  look: string,
  { database, now }: { readonly database: Database; readonly now: () => number },
): WaitingRoom<WantedMail> =>
  new WaitingRoom<WantedMail>({
    limits: MOST_WAITING,
    now,
    hasOthers: database.kind === 'postgres',
    moveOn: moveOn(prefix),
    async look(wanted) {
      const rows = await database.query<{ n: number; id: string }>(look, [
        JSON.stringify(wanted.map((want, n) => ({ n, ...want }))),
        [...new Set(wanted.map(({ workspaceId }) => workspaceId))],
      ]);
      const found = new Map(rows.map(({ n, id }) => [n, id]));
      return wanted.map((_, n) => found.get(n) ?? null);
    },
  });

/** The same once nothing was found: what was looked through is not looked through again. */
const moveOn =
  (prefix: IdPrefix) =>
  (want: WantedMail, lookedAt: number): WantedMail => {
    const reached = lowestIdAt(prefix, lookedAt - COMMIT_MS);
    const after = [want.after, reached].toSorted()[1] as string;
    return { ...want, isNewest: false, after };
  };

/** Waits as the query of a call says, and answers with the id of what came, or with why none did. */
export async function waitForMail(
  room: WaitingRoom<WantedMail>,
  prefix: IdPrefix,
  { caller, query, gone }: Call<unknown, WaitQuery>,
): Promise<string | Failure> {
  const want = wantOf(prefix, caller, query);
  if (want instanceof Failure) return want;
  const found = await room.wait(caller.id, want, query.timeout * 1_000, gone);
  if (found === FULL) return TOO_MANY;
  if (found === CLOSED || found === GONE) return STOPPING;
  return found ?? nothingCame(query.timeout);
}

/** Those who wait for mail of the same workspace and environment. */
export const groupOf = (workspaceId: string, livemode: boolean): string => `${workspaceId} ${livemode}`;

function wantOf(
  prefix: IdPrefix,
  { workspaceId, livemode }: Pick<Call['caller'], 'workspaceId' | 'livemode'>,
  { to, subject, since, after }: WaitQuery,
): WantedMail | Failure {
  const address = parseAddress(to);
  const details: Detail[] = [];
  if (isProblem(address)) details.push({ path: '/query/to', message: address.problem });
  if (after !== undefined && !isId(prefix, after))
    details.push({ path: '/query/after', message: `Must be an id that begins with ${prefix}_.` });
  if (isProblem(address) || details.length > 0) return invalid(details);
  const bounds = [after ?? '', since === undefined ? '' : lowestIdAt(prefix, Date.parse(since))].toSorted();
  return {
    group: groupOf(workspaceId, livemode),
    workspaceId,
    livemode,
    subject: subject === undefined ? null : containing(subject),
    after: bounds[1] || `${prefix}_`,
    forms: formsOf(to),
    isNewest: after === undefined && since === undefined,
  };
}

const TOO_MANY = new Failure(
  'RATE_LIMITED',
  `At most ${MOST_WAITING.each} requests per key, and ${MOST_WAITING.total} in total, can wait for mail at once.`,
  { suggestion: 'Wait for fewer addresses at a time, or ask again with `timeout=0`.' },
);
const STOPPING = new Failure(
  'SERVICE_UNAVAILABLE',
  'This instance is stopping, so requests can no longer wait on it.',
  {
    suggestion: 'Ask again; another instance, or the next start, answers.',
    retryAfterSeconds: 1,
  },
);

const nothingCame = (seconds: number): Failure =>
  new Failure(
    notFound('').code,
    `No matching email arrived within ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
    {
      suggestion: 'Check the address and the subject, or ask again with a longer `timeout`.',
    },
  );
