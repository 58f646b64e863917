import { Type } from '@sinclair/typebox';
import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import { DASHBOARD_API, type Route, route } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { invalidAt } from '../../platform/errors/failure.ts';
import { memberOf, OF_MEMBER, of } from './sign-in/session-routes.ts';

/** The most drafts of a member in a workspace: a further one takes the place of the oldest. */
export const MOST_DRAFTS = 20;
/** The most characters of a draft as JSON. */
export const LARGEST_DRAFT = 1_000_000;
/** The days for which a draft is kept. */
export const KEPT_DAYS = 30;
const BODY_LIMIT = 4_194_304;
const BATCH = 500;

/** Unsaved changes of a person, as the editor sent them. */
interface EditorDraft {
  readonly key: string;
  readonly at: number;
  readonly updatedAt: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly sums: Readonly<Record<string, string>>;
}

/** The unsaved changes of another member: who, when, and of which fields. */
interface OthersDraft {
  readonly name: string;
  readonly at: number;
  readonly fields: readonly string[];
}

const path = `${DASHBOARD_API}/drafts`;
/** The environment and the resource. Editors of secrets and of people's data keep no drafts here. */
const Place = Type.String({
  pattern: '^(?:live|test)/(?:templates|campaigns|flows)/[a-z]{2,8}_[0-9a-z]{1,40}$',
});
const Key = Type.String({ pattern: '^[0-9a-f-]{36}-\\w{1,20}$' });
/** The most fields of an editor. Others are shown their names. */
const MOST_FIELDS = 60;
const Field = Type.String({ pattern: '^\\w{1,40}$' });
const byField = { maxProperties: MOST_FIELDS, additionalProperties: false };

const Body = Type.Object({
  key: Key,
  place: Place,
  updatedAt: Type.String({ minLength: 1, maxLength: 40 }),
  values: Type.Record(Field, Type.Unknown(), byField),
  sums: Type.Record(Field, Type.String({ maxLength: 40 }), byField),
});

const TOO_LARGE = invalidAt(
  '/body/values',
  `A draft has at most ${LARGEST_DRAFT.toLocaleString('en')} characters as JSON. Save the changes instead.`,
);

/** $1 workspace, $2 account, $3 key, $4 place, $5 based on, $6 changed, $7 sums, $8 now. */
const KEEP = `with kept as (
  insert into editor_drafts (workspace_id, account_id, key, place, based_on, changed, sums, kept_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8::timestamptz)
  on conflict (workspace_id, account_id, key) do update set
    place = excluded.place, based_on = excluded.based_on, changed = excluded.changed, sums = excluded.sums,
    kept_at = excluded.kept_at
)
delete from editor_drafts where workspace_id = $1 and account_id = $2 and key in (
  select key from editor_drafts where workspace_id = $1 and account_id = $2 and key <> $3
  order by kept_at desc offset ${MOST_DRAFTS - 1}
)`;

/** $1 workspace, $2 account, $3 place. */
const OWN_AT = `select key, based_on, kept_at, changed, sums from editor_drafts
where workspace_id = $1 and account_id = $2 and place = $3 order by kept_at desc limit ${MOST_DRAFTS}`;

/**
 * The same parameters. The texts of others stay theirs until they save: only the names of the fields are
 * read.
 */
const OTHERS_AT = `select a.name, d.kept_at, d.sums
from editor_drafts d join accounts a on a.id = d.account_id
where d.workspace_id = $1 and d.account_id <> $2 and d.place = $3 order by d.kept_at desc limit ${MOST_DRAFTS}`;

interface DraftRow {
  readonly key: string;
  readonly based_on: string;
  readonly changed: string;
  readonly sums: string;
  readonly kept_at: Date | string;
}

const atOf = ({ kept_at }: Pick<DraftRow, 'kept_at'>): number => new Date(kept_at).getTime();

const draftOf = (row: DraftRow): EditorDraft => ({
  key: row.key,
  at: atOf(row),
  updatedAt: row.based_on,
  values: JSON.parse(row.changed),
  sums: JSON.parse(row.sums),
});

const PRUNE = `delete from editor_drafts where (workspace_id, account_id, key) in (
  select workspace_id, account_id, key from editor_drafts
  where kept_at < $1::text::timestamptz order by kept_at limit ${BATCH} for update skip locked
) returning 1 as one`;

/** Removes drafts that were neither saved nor discarded. */
export const draftPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'draftPruner',
  pattern: '15 25 * * * *',
  goesByAge: true,
  async run(stop) {
    const before = new Date(clock.now() - KEPT_DAYS * 86_400_000).toISOString();
    await untilDone(database, PRUNE, [before], BATCH, stop);
  },
});

/** The services that the drafts of editors call. */
export interface EditorDraftDeps {
  readonly database: Database;
}

/** Drafts of the editors: each belongs to one page of one person, so that two never write the same one. */
export const editorDraftRoutes = ({ database }: EditorDraftDeps): readonly Route[] => [
  route(`GET ${path}`, {
    ...OF_MEMBER,
    summary: 'List the drafts of a resource that the person has',
    query: Type.Object({ place: Place }),
    response: of<readonly EditorDraft[]>(),
    handle: async ({ caller, query }) => {
      const { accountId } = memberOf(caller);
      const asked = [caller.workspaceId, accountId, query.place];
      return (await database.query<DraftRow>(OWN_AT, asked)).map(draftOf);
    },
  }),
  route(`GET ${path}/others`, {
    // Open editors ask again and again: the answer has no texts, neither those of the person.
    ...OF_MEMBER,
    summary: 'List who else has drafts of a resource',
    query: Type.Object({ place: Place }),
    response: of<readonly OthersDraft[]>(),
    handle: async ({ caller, query }) => {
      const { accountId } = memberOf(caller);
      const asked = [caller.workspaceId, accountId, query.place];
      const rows = await database.query<Pick<DraftRow, 'kept_at' | 'sums'> & { name: string }>(
        OTHERS_AT,
        asked,
      );
      // Each changed field has a sum.
      return rows.map((row) => ({
        name: row.name,
        at: atOf(row),
        fields: Object.keys(JSON.parse(row.sums)),
      }));
    },
  }),
  route(`PUT ${path}`, {
    ...OF_MEMBER,
    bodyLimit: BODY_LIMIT,
    summary: 'Keep a draft',
    body: Body,
    response: of<{ readonly at: number }>(),
    handle: async ({ caller, body: { key, place, updatedAt, ...body }, now }) => {
      const [values, sums] = [JSON.stringify(body.values), JSON.stringify(body.sums)];
      if (values.length > LARGEST_DRAFT) return TOO_LARGE;
      const { accountId } = memberOf(caller);
      const row = [caller.workspaceId, accountId, key, place, updatedAt, values, sums];
      await database.query(KEEP, [...row, new Date(now).toISOString()]);
      return { at: now };
    },
  }),
  route(`DELETE ${path}`, {
    ...OF_MEMBER,
    summary: 'Remove a draft',
    query: Type.Object({ key: Key }),
    handle: async ({ caller, query }) => {
      const { accountId } = memberOf(caller);
      const owned = [caller.workspaceId, accountId, query.key];
      await database.query(
        'delete from editor_drafts where workspace_id = $1 and account_id = $2 and key = $3',
        owned,
      );
      return null;
    },
  }),
];
