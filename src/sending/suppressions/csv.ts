import { type Static, Type } from '@sinclair/typebox';
import { SUPPRESSION_REASONS, type SuppressionReason } from '../../../machines/email/rules.ts';
import { csvDownload } from '../../http/lists/csv-download.ts';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, RawResponse, Replay } from '../../http/request/route.ts';
import { addressesOfCell } from '../../mail/list-files/address-columns.ts';
import { untilNextTurn } from '../../platform/async/batcher.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { dialectOf } from '../../platform/csv/delimiter.ts';
import { BrokenEncoding, EncodingDetector } from '../../platform/csv/encoding.ts';
import { otherFile } from '../../platform/csv/other-file.ts';
import { CsvReader } from '../../platform/csv/reader.ts';
import { CSV_MARK, csvRow } from '../../platform/csv/write.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { keepReply } from '../../platform/db/stored-replies.ts';
import { type Failure, invalidAt } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { contactsLeaveSql } from './contacts-leave.ts';
import { listColumns, reasonOfLine } from './list-columns.ts';
import { forgottenKey } from './queries.ts';
import { enterReasonSql, replacesReason } from './reasons.ts';

/** Addresses of one statement. */
const BATCH = 1_000;
/** Rows that are read at one go, in some ten milliseconds: then requests have their turn. */
const ROWS = 250;
/** Refused lines that the answer names. */
const MOST_ERRORS = 100;

/** The result of an import of suppressions. */
export const SuppressionImport = Type.Object(
  {
    counts: Type.Object({
      total: Type.Integer({ description: 'The number of addresses in the file; a line may hold several.' }),
      added: Type.Integer({ description: 'The number of addresses that the import added.' }),
      known: Type.Integer({
        description: 'The number of addresses that were already suppressed, or came earlier in the file.',
      }),
      failed: Type.Integer({ description: 'The number of addresses that were refused.' }),
    }),
    errors: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() }), {
      description: `The lines of the first ${MOST_ERRORS} refused addresses.`,
    }),
  },
  { title: 'SuppressionImport' },
);

export type SuppressionImportView = Static<typeof SuppressionImport>;

const SUPPRESS_MANY = `with input as materialized (
  select coalesce(k.address_key, i.address_key) as address_key, case when k.is_hidden then null else i.address end as address,
    i.address_key as email_key, i.reason, i.acts
  from json_to_recordset($2::text::json) as i(address_key text, address text, reason text, hash text, acts text[])
    left join lateral (
      select s.address_key, s.address_key = i.hash collate "C" as is_hidden from suppressions s
      where s.workspace_id = $1 and s.address_key in (i.address_key collate "C", i.hash collate "C")
      order by s.address_key = i.address_key collate "C" desc limit 1
    ) k on true
), entered as (
  insert into suppressions as s (workspace_id, address_key, address, reason, email_id, created_at, unsubscribed_at, complained_at)
  select $1, address_key, address, reason, null, $3::timestamptz,
    case when 'unsubscribed' = any(acts) then $3::timestamptz end, case when 'complained' = any(acts) then $3::timestamptz end
  from input order by address_key
  ${enterReasonSql('s')}
  returning xmax = 0 as is_new
), gone as (
  ${contactsLeaveSql(`(select $1::text as workspace_id, email_key, unnest(acts || reason) as reason, $3::timestamptz as at from input)`)}
)
select count(*)::integer as added from entered where is_new`;

interface Entry {
  readonly address_key: string;
  readonly address: string;
  readonly reason: SuppressionReason;
  /** Acts of the person that other lines of the file name. */
  readonly acts: readonly SuppressionReason[];
}

/** An entry with the hash by which a forgotten person is known: the address is not stored again beside it. */
type HashedEntry = Entry & { readonly hash: string };

interface ReadList {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly total: number;
  readonly errors: readonly { readonly line: number; readonly message: string }[];
}

/** The text of a file in any encoding that contacts are imported from. */
function textOf(bytes: Uint8Array): string | Failure {
  const detector = new EncodingDetector();
  try {
    const begun = detector.take(bytes);
    const { rest, stored } = detector.end();
    return new TextDecoder(stored, { ignoreBOM: true }).decode(Buffer.concat([begun, rest]));
  } catch (error) {
    if (error instanceof BrokenEncoding) return invalidAt('/body', error.message);
    throw error;
  }
}

/**
 * An address of which one more line tells. The reason is the one that the lines would give one by one, and no
 * act of the person is lost.
 */
function withReason(
  known: Entry | undefined,
  {
    key,
    address,
    reason,
  }: { readonly key: string; readonly address: string; readonly reason: SuppressionReason },
): Entry {
  if (!known) return { address_key: key, address, reason, acts: [] };
  const isReplaced = replacesReason(known.reason, reason);
  const [counts, beside] = isReplaced ? [reason, known.reason] : [known.reason, reason];
  return {
    ...known,
    reason: counts,
    acts: [...new Set([...known.acts, beside])].filter((act) => act !== counts),
  };
}

/** Reads a list: a column of addresses, and the columns with a reason if there are any. */
function readList(bytes: Uint8Array): ReadList | Failure {
  const text = textOf(bytes);
  if (typeof text !== 'string') return text;
  const other = otherFile(text);
  if (other !== null) return invalidAt('/body', other);
  const { delimiter, skipped } = dialectOf(text.slice(0, 65_536), text.length <= 65_536);
  const [header, ...rows] = new CsvReader({ delimiter, line: skipped > 0 ? 2 : 1 }).read(
    text.slice(skipped),
    true,
  );
  const columns = listColumns((header?.cells ?? []).map((name) => name.trim()));
  if (!columns)
    return invalidAt('/body', 'The file needs a header with a column for the addresses: address or email.');
  const entries = new Map<string, Entry>();
  const errors: { line: number; message: string }[] = [];
  let total = 0;
  for (const { line, cells, fault } of rows) {
    if (!fault && cells.every((cell) => cell.trim() === '')) continue;
    const reason = reasonOfLine(cells, columns);
    // Each address of a cell is one that gets no more mail.
    for (const address of addressesOfCell(cells[columns.address] ?? '')) {
      total++;
      const read = parseAddress(address);
      if (fault) errors.push({ line, message: 'This line has unbalanced quotes.' });
      else if (isProblem(read)) errors.push({ line, message: read.problem });
      else if (reason === 'unknown')
        errors.push({ line, message: `Must be one of ${SUPPRESSION_REASONS.join(', ')}, or a sentence.` });
      else if (reason === 'subscribed')
        errors.push({
          line,
          message: 'This line says that the person is subscribed, so it is not imported.',
        });
      else entries.set(read.key, withReason(entries.get(read.key), { ...read, reason }));
    }
  }
  return { entries, total, errors };
}

/**
 * Suppresses the addresses of a file. A repetition after a crash continues: addresses that were suppressed
 * stay so.
 */
export async function importSuppressions(
  { database, signer }: { readonly database: Database; readonly signer: Signer },
  call: Call<unknown, unknown, Uint8Array>,
): Promise<SuppressionImportView | Failure | Replay> {
  const { caller, body, now } = call;
  const list = readList(body);
  if ('code' in list) return list;
  const keyed = keyedBy(call);
  return idempotently(database, keyed, {
    lookFirst: true,
    run: async () => {
      const entries = [...list.entries.values()];
      let added = 0;
      for (let from = 0; from < entries.length; from += BATCH) {
        const hashed = (entry: Entry): HashedEntry => ({
          ...entry,
          hash: forgottenKey(signer, caller.workspaceId, entry.address_key),
        });
        const part = JSON.stringify(entries.slice(from, from + BATCH).map(hashed));
        const [row] = await database.query<{ added: number }>(SUPPRESS_MANY, [
          caller.workspaceId,
          part,
          new Date(now).toISOString(),
        ]);
        added += row?.added ?? 0;
        // Yields to other work, as between the pages of an export.
        await untilNextTurn();
      }
      const failed = list.errors.length;
      const counts = { total: list.total, added, known: list.total - failed - added, failed };
      const view = { counts, errors: list.errors.slice(0, MOST_ERRORS) };
      await keepReply(database, keyed, 200, view);
      return view;
    },
  });
}

const PAGE = `with page as materialized (
  select * from suppressions where workspace_id = $1 and address_key > $2 and address is not null order by address_key limit ${ROWS}
)
select address_key, address, r.reason, to_char(r.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since
from page cross join lateral (values
  (1, reason, created_at), (2, 'complained', complained_at), (3, 'unsubscribed', unsubscribed_at)
) r(place, reason, at) where r.at is not null
order by address_key, r.place`;

interface ExportedRow {
  readonly address_key: string;
  readonly address: string;
  readonly reason: string;
  readonly since: string;
}

/** Streams all suppressions whose addresses are known, by address. */
export const exportSuppressions = ({ reads }: { readonly reads: Reads }, { caller }: Call): RawResponse =>
  csvDownload('suppressions.csv', listed(reads, caller));

async function* listed(
  reads: Reads,
  { workspaceId, livemode }: Call['caller'],
): AsyncGenerator<string, undefined> {
  yield CSV_MARK + csvRow(['address', 'reason', 'created_at']);
  for (let after: string | undefined = livemode ? '' : undefined; after !== undefined; ) {
    const rows: readonly ExportedRow[] = await reads.query<ExportedRow>(PAGE, [workspaceId, after]);
    if (rows.length > 0)
      yield rows.map(({ address, reason, since }) => csvRow([address, reason, since])).join('');
    // An act of the person beside the reason has a line too.
    after = new Set(rows.map((row) => row.address_key)).size < ROWS ? undefined : rows.at(-1)?.address_key;
  }
}
