import { type CountView, countSql, readCount } from '../../http/lists/count.ts';
import { type FilterOf, type IdRange, listById } from '../../http/lists/list.ts';
import type { Call, Page } from '../../http/request/route.ts';
import { SHOWN_BY_GMAIL } from '../../mail/check/codes.ts';
import type { MailParts } from '../../mail/reading/mail-parts.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import type { AskSpamAssassin } from '../../mail/spam/spam-assassin.ts';
import { LARGEST_JUDGED } from '../../mail/spam/spam-verdict.ts';
import type { Database } from '../../platform/db/database.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { unpackOctets } from '../../platform/db/wire/packed-octets.ts';
import { Failure, notFound } from '../../platform/errors/failure.ts';
import { formsOf } from '../../platform/text/address-part.ts';
import { placeAt } from '../../platform/text/places.ts';
import { answerOf, type ChecksApi, type MessageCheck } from '../checks/api.ts';
import type { CapturedDetail, CapturedItem, CapturedQuery, CapturedSpam } from './model.ts';

interface Row {
  readonly id: string;
  readonly email_id: string;
  readonly recipient: string;
  readonly name: string | null;
  readonly address: string | null;
  readonly subject: string | null;
  readonly size: number;
}

const COLUMNS = `c.id, c.email_id, c.recipient, m.envelope -> 'from' ->> 'name' as name,
  m.envelope -> 'from' ->> 'address' as address, m.subject, coalesce(c.size, octet_length(c.raw)) as size`;
const FROM = `from captured c left join emails m on m.id = c.email_id and m.workspace_id = $1`;

interface OneRow extends Row {
  readonly return_path: string;
  readonly raw: string;
  readonly is_packed: boolean;
}

/** The message as it was captured. */
const rawOf = async ({ raw, is_packed: isPacked }: OneRow): Promise<Buffer> => {
  const octets = Buffer.from(raw, 'base64');
  return isPacked ? await unpackOctets(octets) : octets;
};

/** Captured mail is live mail: a test key sees none. */
const WHERE = `where c.workspace_id = $1 and $2 and ($3::text is null or c.id < $3) and ($4::text is null or c.id >= $4)
  and ($5::text is null or c.email_id = $5) and ($6::text[] is null or lower(c.recipient) = any($6))`;
const listSql = ({ order }: IdRange): string =>
  `select ${COLUMNS} ${FROM} ${WHERE} order by c.id ${order} limit $7::integer`;

/** Rows without a size are from before messages were packed. */
const ONE = `select ${COLUMNS}, c.return_path, encode(c.raw, 'base64') as raw, c.size is not null as is_packed ${FROM}
where c.workspace_id = $1 and c.id = $2 and $3`;

const formsWanted = (recipient: string | undefined): readonly string[] | null =>
  recipient === undefined ? null : formsOf(recipient);

export function listCaptured(
  { reads }: { readonly reads: Reads },
  call: Call<unknown, CapturedQuery>,
): Promise<Page<CapturedItem> | Failure> {
  const { workspaceId, livemode } = call.caller;
  const { emailId = null, recipient } = call.query;
  return listById(call, {
    list: 'captured',
    prefix: 'cap',
    rows: (range, limit) =>
      reads.query<Row>(listSql(range), [
        workspaceId,
        livemode,
        range.below,
        range.from,
        emailId,
        formsWanted(recipient),
        limit,
      ]),
    item: itemOf,
  });
}

export type CapturedFilter = FilterOf<CapturedQuery>;

const COUNT = countSql(
  'select * from captured where workspace_id = $1 and $2 order by id desc',
  'c',
  '($3::text is null or c.email_id = $3) and ($4::text[] is null or lower(c.recipient) = any($4))',
);

export const countCaptured = (
  { reads }: { readonly reads: Reads },
  { caller, query }: Call<unknown, CapturedFilter>,
): Promise<CountView> =>
  readCount(reads, COUNT, [
    caller.workspaceId,
    caller.livemode,
    query.emailId ?? null,
    formsWanted(query.recipient),
  ]);

/** The services that reading captured mail calls. */
export interface CapturedReader {
  readonly database: Database;
  readonly reads: Reads;
  readonly mailReader: Pick<MailReader, 'parts'>;
  /** Null where no SpamAssassin is configured. */
  readonly spamAssassin: AskSpamAssassin | null;
}

const TOO_LARGE = new Failure('PAYLOAD_TOO_LARGE', 'SpamAssassin checks messages of at most 512,000 octets.');
const NO_SPAM_ASSASSIN = new Failure('SERVICE_UNAVAILABLE', 'SpamAssassin does not answer.', {
  suggestion: 'Check that spamd runs at SPAMASSASSIN_URL and accepts connections from this service.',
});

/**
 * One captured message, split into its parts as a mail program shows them; without parts when it is too large
 * to split.
 */
export async function capturedDetail(
  { database, mailReader }: CapturedReader,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<CapturedDetail | Failure> {
  const [row] = await database.query<OneRow>(ONE, [caller.workspaceId, params.id, caller.livemode]);
  if (!row) return notFound('captured message');
  const raw = await rawOf(row);
  return {
    ...itemOf(row),
    returnPath: row.return_path,
    ...((await mailReader.parts(raw, caller.workspaceId)) ?? NO_PARTS),
    raw: raw.toString('utf8'),
  };
}

/** Reads SpamAssassin's verdict on a captured message; without a verdict where none is configured. */
export async function capturedSpam(
  { database, spamAssassin }: CapturedReader,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<CapturedSpam | Failure> {
  if (!spamAssassin) return { isConfigured: false, verdict: null };
  const [row] = await database.query<OneRow>(ONE, [caller.workspaceId, params.id, caller.livemode]);
  if (!row) return notFound('captured message');
  const raw = await rawOf(row);
  if (raw.length > LARGEST_JUDGED) return TOO_LARGE;
  const verdict = await spamAssassin(raw).catch(() => null);
  return verdict
    ? { isConfigured: true, verdict: { ...verdict, rules: [...verdict.rules] } }
    : NO_SPAM_ASSASSIN;
}

/** Finds what is wrong with a captured message. */
export async function checkCaptured(
  { database, mailReader, check }: CapturedReader & Pick<ChecksApi, 'check'>,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<MessageCheck | Failure> {
  const { workspaceId } = caller;
  const [row] = await database.query<OneRow>(ONE, [workspaceId, params.id, caller.livemode]);
  if (!row) return notFound('captured message');
  const raw = await rawOf(row);
  const { html, text, headers } = (await mailReader.parts(raw, workspaceId)) ?? NO_PARTS;
  const field = headers.find(({ name }) => name.toLowerCase() === 'list-unsubscribe')?.value ?? '';
  const exit = exitIn(field);
  const problems = await check({
    workspaceId,
    clippedAt: SHOWN_BY_GMAIL,
    looked: { html, text, source: null, as: 'finished', exit },
    raw: () => Promise.resolve(raw),
  });
  return answerOf(
    problems.map(({ code, message, at }) => ({
      code,
      message,
      path: at === null ? null : '/html',
      line: at === null ? null : placeAt(html ?? '', at).line,
    })),
  );
}

/**
 * The web address of a List-Unsubscribe field. Bounded: a field of brackets without an end would be searched
 * from each of them.
 */
export const exitIn = (field: string): string | null => /<(https?:[^<>]{0,2048})>/i.exec(field)?.[1] ?? null;

const NO_PARTS: MailParts = { headers: [], text: null, html: null, attachments: [] };

const itemOf = ({ id, email_id, recipient, name, address, subject, size }: Row): CapturedItem => ({
  id,
  emailId: email_id,
  recipient,
  from: name === null ? (address ?? '') : `${name} <${address}>`,
  subject: subject ?? '',
  size,
  capturedAt: new Date(timeOfId(id)).toISOString(),
});
