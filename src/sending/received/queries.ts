import type { Principal } from '../../http/auth/principal.ts';
import { type CountView, countSql, readCount } from '../../http/lists/count.ts';
import { type FilterOf, type IdRange, idRangeOf, listById } from '../../http/lists/list.ts';
import type { Call, Page, RawResponse } from '../../http/request/route.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { isoOf, isoOrNull } from '../../platform/time/clock.ts';
import { emailFate, fileResponse, messageResponse } from '../emails/queries.ts';
import { type ContentDeps, idsByAddress, readParts, readRaw } from './contents.ts';
import type { ReceivedDetail, ReceivedItem, ReceivedQuery } from './model.ts';
import { itemOf, messageOf, NO_PARTS, RECEIVED_COLUMNS, type ReceivedRow } from './views.ts';

/** The services that reading received mail calls. */
export interface ReceivedReader extends ContentDeps {
  readonly reads: Reads;
  readonly mailReader: Pick<MailReader, 'file'>;
}

const ONE = `select ${RECEIVED_COLUMNS} from received r where r.id = $1 and r.workspace_id = $2 and r.livemode = $3::boolean`;

const FILTERS = `($5::text is null or r.id = any(${idsByAddress('$1', '$2::boolean', '$5::text')})) and ($6::text is null or r.thread_id = $6)
  and ($7::text is null or r.email_id = $7) and ($8::text is null or r.route_id = $8)
  and ($9::boolean is null or r.is_automatic = $9::boolean)`;
const WHERE = `where r.workspace_id = $1 and r.livemode = $2::boolean and ($3::text is null or r.id < $3) and ($4::text is null or r.id >= $4)
  and ${FILTERS}`;
const listSql = ({ order }: IdRange): string =>
  `select ${RECEIVED_COLUMNS} from received r ${WHERE} order by r.id ${order} limit $10::integer`;

const ATTEMPTS = `select attempt, (extract(epoch from attempted_at) * 1000)::float8 as "attemptedAt", http_status as "httpStatus",
  response_body as "responseBody", duration_ms as "durationMs", error
from received_attempts where received_id = $1 order by attempt desc limit 50`;

const ANSWERS =
  'select email_id as id from received_answers where received_id = $1 order by email_id limit 100';

interface AttemptRow {
  readonly attempt: number;
  readonly attemptedAt: number;
  readonly httpStatus: number;
  readonly responseBody: string;
  readonly durationMs: number;
  readonly error: string | null;
}

/** The 404 of a received message. */
export const NO_RECEIVED = notFound('received message');
const GONE = new Failure('NOT_FOUND', 'The content of this message is not kept any more.');

/** Reads a received message of the caller's environment; null when there is none. @throws UnavailableError */
export async function findReceived(
  { database }: Pick<ContentDeps, 'database'>,
  { workspaceId, livemode }: Pick<Principal, 'workspaceId' | 'livemode'>,
  id: string,
): Promise<ReceivedRow | null> {
  const [row] = await database.query<ReceivedRow>(ONE, [id, workspaceId, livemode]);
  return row ?? null;
}

export async function listReceived(
  { reads }: Pick<ReceivedReader, 'reads'>,
  call: Call<unknown, ReceivedQuery>,
): Promise<Page<ReceivedItem> | Failure> {
  const { caller, query } = call;
  const filters = filtersOf(query);
  if (filters instanceof Failure) return filters;
  return listById(call, {
    list: 'received',
    prefix: 'rcv',
    rows: (range, limit) =>
      reads.query<ReceivedRow>(
        listSql(range),
        [caller.workspaceId, caller.livemode, range.below, range.from, ...filters, limit],
        { isSearch: true },
      ),
    item: itemOf,
  });
}

/** The values of `FILTERS`. */
function filtersOf(query: ReceivedFilter): readonly (string | boolean | null)[] | Failure {
  const { address, threadId = null, emailId = null, routeId = null, isAutomatic = null } = query;
  const read = address === undefined ? null : parseAddress(address);
  if (read && isProblem(read)) return invalidAt('/query/address', read.problem);
  return [read?.key ?? null, threadId, emailId, routeId, isAutomatic];
}

export type ReceivedFilter = FilterOf<ReceivedQuery>;

const COUNT = countSql(
  `select * from received where workspace_id = $1 and livemode = $2::boolean and ($3::text is null or id < $3)
  and ($4::text is null or id >= $4) order by id desc`,
  'r',
  FILTERS,
);

export async function countReceived(
  { reads }: Pick<ReceivedReader, 'reads'>,
  { caller, query }: Call<unknown, ReceivedFilter>,
): Promise<CountView | Failure> {
  const filters = filtersOf(query);
  if (filters instanceof Failure) return filters;
  const { below, from } = idRangeOf('rcv', null, query);
  return readCount(reads, COUNT, [caller.workspaceId, caller.livemode, below, from, ...filters]);
}

/** One received message with its content, and the attempts to post it. */
export async function receivedDetail(
  deps: Pick<ContentDeps, 'database'>,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<ReceivedDetail | Failure> {
  const row = await findReceived(deps, caller, params.id);
  if (!row) return NO_RECEIVED;
  const { forwardedAs } = row.context;
  const [parts, attempts, answers, fate] = await Promise.all([
    readParts(deps.database, caller.workspaceId, row.contentId),
    deps.database.query<AttemptRow>(ATTEMPTS, [row.id]),
    deps.database.query<{ id: string }>(ANSWERS, [row.id]),
    forwardedAs === undefined ? null : emailFate(deps.database, caller, forwardedAs),
  ]);
  return {
    ...messageOf(row, parts ?? NO_PARTS),
    attempts: attempts.map(({ attemptedAt, ...attempt }) => ({
      ...attempt,
      attemptedAt: isoOf(attemptedAt),
    })),
    answers: answers.map(({ id }) => id),
    nextAttemptAt: row.state === 'retrying' ? isoOrNull(row.wakeAt) : null,
    forward: forwardedAs === undefined ? null : { emailId: forwardedAs, ...(fate ?? UNKNOWN_FATE) },
    stopReason: row.context.stoppedBy,
  };
}

/** Of an email that is not kept any more. */
const UNKNOWN_FATE = { status: 'expired', recipients: [] };

/** The message as it came, with every octet. */
export async function receivedRaw(
  deps: ContentDeps,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<RawResponse | Failure> {
  const row = await findReceived(deps, caller, params.id);
  if (!row) return NO_RECEIVED;
  const raw = await readRaw(deps, caller.workspaceId, row.contentId);
  return raw ? messageResponse(row.id, raw) : GONE;
}

/** One file of a message, numbered as its detail lists them. */
export async function receivedFile(
  deps: ReceivedReader,
  { caller, params }: Call<{ readonly id: string; readonly index: string }>,
): Promise<RawResponse | Failure> {
  const row = await findReceived(deps, caller, params.id);
  if (!row) return NO_RECEIVED;
  if (!/^\d{1,4}$/.test(params.index)) return notFound('attachment');
  const raw = await readRaw(deps, caller.workspaceId, row.contentId);
  if (!raw) return GONE;
  const file = await deps.mailReader.file(raw, Number(params.index), caller.workspaceId);
  return file ? fileResponse(file, file.octets) : notFound('attachment');
}
