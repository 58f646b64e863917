import {
  CONTACT_IMPORT_STATES,
  CONTACT_IMPORT_VERSION,
  contactImportMachine,
} from '../../../../machines/contact-import/machine.ts';
import { defineKind, type EffectMeanings, type FactTable } from '../../../engine/machine/kind.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import type { Registration } from '../../../engine/runtime/running-kind.ts';
import { audienceActSql } from '../../../sending/suppressions/queries.ts';
import { CONTACT_INPUT_COLUMNS, writeContactsSql } from '../write.ts';
import type { ImportedContact, RowBatch } from './file/rows.ts';

/** Mistakes that the import itself answers. */
export const FIRST_FAULTS = 100;

/** The results of a dry run, for addresses that are contacts and for those that are not. */
export interface Preview {
  readonly updated: number;
  readonly skipped: number;
  readonly lowered: number;
  readonly keptOut: number;
  readonly unknown: readonly UnknownAddress[];
}

/** An address that is no contact. */
export interface UnknownAddress {
  readonly hash: string;
  /**
   * The status of a new contact: not subscribed because of the file (`out`) or of a suppression (`kept`);
   * null for subscribed.
   */
  readonly begins: 'out' | 'kept' | null;
}

/** The rows that the event of the machine carries. */
export type WorkedRows = RowBatch & { readonly preview: Preview | null; readonly isWritten: boolean };

// One import has rows in a commit: a process works through one at a time. Should two ever meet, the single
// rows that are read below are two, PostgreSQL refuses the statement, and the engine commits them apart.
const ONE = (column: string): string => `(select c.${column} from import_chunk c)`;

const chunk: FactTable = {
  name: 'import_chunk',
  columns: `at timestamptz, from_offset bigint, total integer, refused integer, repeated integer, skipped integer,
    updated integer, lowered integer, kept_out integer, faults jsonb, is_written boolean`,
  sql: (source) => `select f.*, f.actor as import_id from ${source} f`,
};

const rows: FactTable = {
  name: 'import_rows',
  columns: `${CONTACT_INPUT_COLUMNS}, repeats integer, joins json`,
  sql: (source) => `select f.* from ${source} f`,
};

/** Contacts that would have too many properties are the one mistake that only the commit itself can see. */
const WRITTEN = `${writeContactsSql({
  input: 'import_rows',
  workspaceId: ONE('workspace_id'),
  livemode: ONE('livemode'),
  now: ONE('at'),
  merges: ONE('merges'),
  origin: { type: "'imported'", subject: ONE('import_id') },
  leavesAnyway: true,
})}, import_outcomes as materialized (
  select count(*) filter (where outcome = 'created') as created, count(*) filter (where outcome = 'updated') as updated,
    count(*) filter (where outcome = 'known') as known, count(*) filter (where outcome = 'full') as full_ones, count(*) as all_ones,
    coalesce((select sum(r.repeats) from import_rows r
      where r.ord in (select w.ord from written w where w.outcome = 'full')), 0) as full_repeats,
    (select count(*) from import_rows) as wanted
  from written
), import_said as materialized (
  select coalesce(jsonb_object_agg(email_key, true) filter (where leaves is not null or begins_out), '{}') as out from import_rows
), import_statuses as materialized (
  select (select count(*) from fitting where lowers)
      as lowered,
    (select count(*) from fitting where leaves is null and not coalesce(begins_out, false) and known_status <> 'subscribed')
      + count(*) filter (where status <> 'subscribed' and said.out -> email_key is null) as kept_out,
    count(*) filter (where status <> 'subscribed' and said.out -> email_key is not null) as added_out
  from created cross join import_said said
), import_remembered as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data, position)
  select f.known_id, 'act_' || substr(f.id, 5), ${ONE('livemode')}, 'imported', ${ONE('at')}, ${ONE('import_id')},
    case when f.lowers or f.consent is not null then json_strip_nulls(json_build_object('status', case when f.lowers then f.leaves end,
      'consent', f.consent)) end, (select event_position())
  from fitting f where f.is_merged or f.lowers or f.leaves_again
)`;

/**
 * Lets them into their audiences, but for those whose last act there is a leaving, by whichever hand: a file
 * is no consent. Their rows are locked before (`known`), so that a leaving that was under way counts; those
 * of new contacts were found when they were made. What is noted names the import: who waits for people who
 * join can pass over those that came by a file.
 */
const JOINED = `import_joins as materialized (
  select jsonb_object_agg(ord, joins) as by_place from import_rows where joins is not null
), import_wanted as materialized (
  select w.id as contact_id, a.id as audience_id, j.join_id, w.outcome
  from written w cross join import_joins p
    cross join lateral jsonb_to_recordset(p.by_place -> w.ord::text) as j(audience_id text, join_id text)
    join audiences a on a.workspace_id = ${ONE('workspace_id')} and a.livemode = ${ONE('livemode')}
      and a.id = j.audience_id collate "C" and a.type = 'static' and not a.confirm
  where w.outcome in ('created', 'updated', 'known') and p.by_place -> w.ord::text is not null
), import_joined as (
  insert into audience_members (audience_id, contact_id, state, since)
  select audience_id, contact_id, 'joined', ${ONE('at')} from import_wanted n
  where n.outcome = 'created' and (n.contact_id, n.audience_id) not in (select b.contact_id, b.audience_id from left_before b)
    or n.outcome <> 'created' and ${audienceActSql({ contactId: 'n.contact_id', audienceId: 'n.audience_id', isLocked: true })} is null
  order by audience_id, contact_id
  on conflict (audience_id, contact_id) do nothing returning audience_id, contact_id
), import_join_ids as materialized (
  select jsonb_object_agg(audience_id || ' ' || contact_id, join_id) as by_both from import_wanted
), import_join_noted as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data, position)
  select j.contact_id, (select i.by_both ->> (j.audience_id || ' ' || j.contact_id) from import_join_ids i), ${ONE('livemode')},
    'joined', ${ONE('at')}, j.audience_id, json_build_object('importId', ${ONE('import_id')}), (select event_position())
  from import_joined j
)`;

const previewed: FactTable = {
  name: 'import_preview',
  columns: 'address_hash text, begins text',
  sql: (source) => `select f.actor as import_id, f.address_hash, f.begins from ${source} f`,
  followedBy: `${WRITTEN}, ${JOINED}, import_met as (
  insert into contact_import_seen (import_id, address_hash) select import_id, address_hash from import_preview
  on conflict do nothing returning address_hash
), import_begun as materialized (
  select count(*) as met, count(*) filter (where p.begins = 'out') as out, count(*) filter (where p.begins = 'kept') as kept
  from import_preview p where p.address_hash in (select address_hash from import_met)
), import_faults as materialized (
  select import_id, from_offset, f.faults from import_chunk c cross join lateral (
    select jsonb_agg(each order by (each ->> 0)::integer) as faults from (
      select each from jsonb_array_elements(c.faults) as a(each)
      union all select jsonb_build_array(w.ord, null, 'too_many_properties') from written w where w.outcome = 'full'
    ) u
  ) f
), import_told as (
  insert into contact_import_faults (import_id, from_offset, faults)
  select import_id, from_offset, faults from import_faults where faults is not null
), import_counted as (
  insert into contact_import_counts as t (import_id, total, created, updated, skipped, failed, lowered, kept_out, added_out, first_faults)
  select c.import_id, c.total,
    o.created + m.met,
    o.updated + c.updated + case when c.merges then c.repeated - o.full_repeats + m.again else 0 end,
    o.known + c.skipped + case when c.merges then 0 else m.again end,
    c.refused + o.full_ones + o.full_repeats + case when o.all_ones < o.wanted then contact_import_raced() else 0 end,
    s.lowered + coalesce(c.lowered, 0), s.kept_out + coalesce(c.kept_out, 0) + m.kept, s.added_out + m.out,
    coalesce(jsonb_path_query_array(f.faults, '$[0 to ${FIRST_FAULTS - 1}]'), '[]')
  from import_chunk c cross join import_outcomes o cross join import_statuses s cross join import_faults f cross join (
    select met, out, kept, (select count(*) from import_preview) - met as again from import_begun
  ) m
  on conflict (import_id) do update set
    total = t.total + excluded.total, created = t.created + excluded.created, updated = t.updated + excluded.updated,
    skipped = t.skipped + excluded.skipped, failed = t.failed + excluded.failed,
    lowered = t.lowered + excluded.lowered, kept_out = t.kept_out + excluded.kept_out, added_out = t.added_out + excluded.added_out,
    first_faults = case when jsonb_array_length(t.first_faults) < ${FIRST_FAULTS} then t.first_faults || excluded.first_faults
      else t.first_faults end
)`,
};

const countedAnew: FactTable = {
  name: 'import_counted_anew',
  columns: 'gone boolean',
  sql: (source) => `delete from contact_import_counts t using ${source} s where t.import_id = s.actor`,
};

const dropped: FactTable = {
  name: 'import_dropped',
  columns: 'gone boolean',
  sql: (source) => `delete from contact_import_chunks k using ${source} s where k.import_id = s.actor`,
};

const iso = (at: number): string => new Date(at).toISOString();

/**
 * A contact without the members that say nothing: PostgreSQL takes a third of an import's time to read its
 * JSON.
 */
function telling(contact: ImportedContact): Readonly<Record<string, unknown>> {
  const told: Record<string, unknown> = {};
  // `for … in` takes 0.7 µs a row, pairs take 2.
  for (const name in contact) {
    const value = contact[name as keyof ImportedContact];
    if (value && !(Array.isArray(value) && value.length === 0)) told[name] = value;
  }
  return told;
}

const effects: EffectMeanings<typeof contactImportMachine> = {
  work: { order: true },
  countRows: {
    fact: chunk.name,
    rows: ({ rows: given, from }, _actor, at) => {
      const { total, refused, skipped, contacts, faults, preview, isWritten } = given as WorkedRows;
      const repeated = contacts.reduce((sum, { repeats }) => sum + repeats, 0);
      return [
        {
          at: iso(at),
          from_offset: from,
          total,
          refused,
          repeated: preview ? 0 : repeated,
          skipped: preview ? preview.skipped : skipped,
          updated: preview ? preview.updated : 0,
          lowered: preview ? preview.lowered : 0,
          kept_out: preview ? preview.keptOut : 0,
          faults,
          is_written: isWritten,
        },
      ];
    },
  },
  writeRows: { fact: rows.name, rows: ({ rows: given }) => (given as WorkedRows).contacts.map(telling) },
  previewRows: {
    fact: previewed.name,
    rows: ({ rows: given }) =>
      ((given as WorkedRows).preview?.unknown ?? []).map(({ hash, begins }) => ({
        address_hash: hash,
        begins,
      })),
  },
  countAnew: { fact: countedAnew.name, rows: () => [{ gone: true }] },
  dropFile: { fact: dropped.name, rows: () => [{ gone: true }] },
};

export const contactImportKind = defineKind({
  name: 'contactImport',
  table: 'contact_imports',
  idPrefix: 'imp',
  machine: contactImportMachine,
  states: CONTACT_IMPORT_STATES,
  version: CONTACT_IMPORT_VERSION,
  derived: [],
  spawn: {
    columns: 'settings json, merges boolean, audience_id text, trigger_flows boolean',
    insertColumns: ['settings', 'merges', 'audience_id', 'trigger_flows'],
    insertInto: [],
  },
  actorColumnsForFacts: ['merges', 'audience_id'],
  facts: [chunk, rows, previewed, countedAnew, dropped],
  children: [],
  journal: 'contact_import_journal',
  effects,
});

/** The registration of the kind, with the performer that works through the files. */
export const contactImports = (performer: Performer): Registration => ({
  kind: contactImportKind,
  performer,
});
