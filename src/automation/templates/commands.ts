import { changedSince, isOutdated } from '../../http/if-updated-at.ts';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { isId, mintId } from '../../platform/db/ids.ts';
import { isDuplicate } from '../../platform/db/sqlstate.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { Problems, type Report } from '../../platform/text/problems.ts';
import { isUsedByTemplates, usersOf } from './layers/usage.ts';
import {
  detailsOf,
  type NewTemplate,
  type TemplatePatch,
  type TemplateView,
  type VersionBody,
} from './model.ts';
import { findTemplate, NO_TEMPLATE, NO_VERSION, type TemplateReader } from './queries.ts';
import { type Compilers, compile } from './render/compile.ts';
import {
  authoredOf,
  NOTHING,
  readContent,
  type StoredContent,
  saysTheSame,
  type VersionContent,
} from './render/content.ts';
import { insertTemplate, type TemplateRow, updateTemplate } from './store.ts';
import type { FoundVersion } from './versions.ts';
import { viewOf } from './views.ts';

// biome-ignore lint/performance/noBarrelFile: campaigns choose languages, check content and refuse strangers by the same rules.
export { languageNotes } from './languages/language-notes.ts';
export { askedLanguage, chosenLanguage, contentIn, inEachLanguage } from './languages/translations.ts';
export { bodyPath, notRendered, placedIn, sourceOf } from './render/check.ts';
// Other modules reach the contents of templates through this file.
export type { StoredContent } from './render/content.ts';
export type { TemplateContents } from './render/contents.ts';
export { languageOfContact } from './render/fill.ts';
export { findStrangers, type IsMember, testExitFor } from './render/test-send.ts';

/** The services that changing templates calls. */
export interface TemplateCommands extends TemplateReader, Compilers {
  /** A possible use of a template, besides the emails that were made from it. */
  readonly uses: readonly TemplateUse[];
}

/** A kind of thing that uses templates. One that is used cannot be deleted. */
export interface TemplateUse {
  /** In the message of the refusal: `a campaign that is scheduled or running`. */
  readonly what: string;
  /**
   * SQL of a condition over the template's id: `exists (select from campaigns c where c.template_id = ${id}
   * and …)`.
   */
  readonly where: (id: string) => string;
}

type TemplateCall<Body = unknown> = Call<{ readonly id: string }, unknown, Body>;
type TemplateResult = Promise<TemplateView | Failure>;

const ALIAS_TAKEN = new Failure('CONFLICT', 'Another template has this alias.', {
  suggestion: 'Choose another alias, or take it from the other template first.',
});
const FASTER = new Failure('CONFLICT', 'The template was changed by another request meanwhile.', {
  suggestion: 'Read it again, and decide again; ifVersion is the version that you have seen.',
});
const TAKEN_BY_ALIAS = new Failure('CONFLICT', 'Other templates take the partial by its alias.', {
  suggestion: 'Keep the alias, or create another partial and name that one in them first; usedBy lists them.',
});
const LIKE_AN_ID = 'Must not look like the id of a template.';

/** The number of times that a change is decided again because another one was faster. */
const MOST_TRIES = 20;

function readAlias(alias: string | null | undefined, report: Report): void {
  if (typeof alias === 'string' && isId('tpl', alias)) report('/body/alias', LIKE_AN_ID);
}

/** Makes a template; its first version is sent at once. */
export const createTemplate = (
  commands: TemplateCommands,
  call: Call<unknown, unknown, NewTemplate>,
): Promise<TemplateView | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), { run: () => create(commands, call) });

async function create(commands: TemplateCommands, call: Call<unknown, unknown, NewTemplate>): TemplateResult {
  const { caller, body, now } = call;
  const problems = new Problems();
  readAlias(body.alias, problems.report);
  const { kind = 'template' } = body;
  const authored = readContent(body, NOTHING, problems.report, { kind });
  const refused = problems.failure();
  if (refused) return refused;
  const order = { owner: caller, id: null, kind, now, unheard: call.unheard };
  const content = await compile(commands, authored, order);
  if (content instanceof Failure) return content;
  const row: TemplateRow = {
    id: mintId('tpl', now),
    kind,
    ...detailsOf(body),
    version: 1,
    latest: 1,
    revision: 1,
    created_at: now,
    updated_at: now,
  };
  const view = viewOf(row, caller.livemode, content);
  const write = {
    owner: caller,
    row,
    content,
    keyed: keyedBy(call),
    status: 201,
    reply: JSON.stringify(view),
  };
  return (await unlessTaken(() => insertTemplate(commands.database, write))) ?? view;
}

/** The 409 of an alias that is taken; null when the write was done. */
async function unlessTaken(write: () => Promise<unknown>): Promise<Failure | null> {
  try {
    await write();
    return null;
  } catch (error) {
    if (isDuplicate(error, 'templates_by_alias')) return ALIAS_TAKEN;
    throw error;
  }
}

/**
 * A change of a template as it was read: the row as it is to be and what its new version says, if there is
 * one.
 */
interface Change {
  readonly row: TemplateRow;
  readonly content: StoredContent | null;
  readonly view: TemplateView;
}

/** Reads a template, decides on a change and writes it; again when another request wrote meanwhile. */
async function change(
  commands: TemplateCommands,
  call: TemplateCall,
  decide: (row: TemplateRow) => Promise<Change | TemplateView | Failure>,
): TemplateResult {
  const { caller, params } = call;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const row = await findTemplate(commands, caller, params.id);
    if (row instanceof Failure) return row;
    const decided = await decide(row);
    if (decided instanceof Failure || !('row' in decided)) return decided;
    const { content, view } = decided;
    let isWritten = false;
    const taken = await unlessTaken(async () => {
      const write = { owner: caller, row: decided.row, content, keyed: keyedBy(call), status: 200 };
      isWritten = await updateTemplate(commands.database, { ...write, reply: JSON.stringify(view) });
    });
    if (taken) return taken;
    if (isWritten) return view;
  }
  return FASTER;
}

/**
 * Changes the members that the body names. New content makes a new version, which is sent at once or kept
 * aside as a draft.
 */
export const updateTemplateBy = (
  commands: TemplateCommands,
  call: TemplateCall<TemplatePatch>,
): TemplateResult =>
  change(commands, call, async (row) => {
    const { caller, body, now } = call;
    const isDraft = body.draft ?? false;
    const base = isDraft ? row.latest : row.version;
    if (body.ifVersion !== undefined && body.ifVersion !== base) return FASTER;
    if (isOutdated(body, row.updated_at)) return changedSince('template');
    const found = await commands.versions.read(row, base);
    if (!found) return NO_TEMPLATE;
    const authored = readPatch(body, found.content, row.kind);
    if (authored instanceof Failure) return authored;
    const isNew = !saysTheSame(authored, found.content);
    const order = { owner: caller, id: row.id, kind: row.kind, now, unheard: call.unheard };
    const content = isNew ? await compile(commands, authored, order) : null;
    if (content instanceof Failure) return content;
    const usedBy = await usersOf(commands.database, row);
    // Templates take a partial by the name that is written in them.
    if (row.kind === 'partial' && usedBy.count > 0 && body.alias !== undefined && body.alias !== row.alias)
      return TAKEN_BY_ALIAS;
    const latest = isNew ? row.latest + 1 : row.latest;
    const changed: TemplateRow = {
      ...row,
      ...detailsOf(body, row),
      latest,
      version: isNew && !isDraft ? latest : row.version,
      revision: row.revision + 1,
      updated_at: Math.max(now, row.updated_at + 1),
    };
    return {
      row: changed,
      content,
      view: viewOf(changed, caller.livemode, content ?? found.content, {
        usedBy,
        version: isNew ? latest : base,
      }),
    };
  });

/**
 * The content of a patch over what was there; a change of the format leaves behind what the other format has
 * not.
 */
function readPatch(
  body: TemplatePatch,
  before: VersionContent,
  kind: TemplateRow['kind'],
): VersionContent | Failure {
  const problems = new Problems();
  readAlias(body.alias, problems.report);
  const changesFormat = body.format !== undefined && body.format !== before.format;
  const authored = readContent(
    body,
    changesFormat ? { ...before, html: null, markdown: null, mjml: null } : before,
    problems.report,
    { kind },
  );
  return problems.failure() ?? authored;
}

/** Changes a template by one of its versions, which the request names. */
const changeByVersion = (
  commands: TemplateCommands,
  call: TemplateCall<VersionBody>,
  decide: (row: TemplateRow, found: FoundVersion) => Promise<Change | Failure>,
): Promise<TemplateView | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), {
    run: () =>
      change(commands, call, async (row) => {
        const found = await commands.versions.read(row, call.body.version);
        return found ? decide(row, found) : NO_VERSION;
      }),
  });

/** The row of a template that sends another version from now on. */
const sending = (row: TemplateRow, version: number, now: number): TemplateRow => ({
  ...row,
  version,
  latest: Math.max(row.latest, version),
  revision: row.revision + 1,
  updated_at: Math.max(now, row.updated_at + 1),
});

/** Makes a version of a template the one that is sent. */
export const publishVersion = (commands: TemplateCommands, call: TemplateCall<VersionBody>) =>
  changeByVersion(commands, call, async (before, { version, content }) => {
    const row = sending(before, version, call.now);
    const usedBy = await usersOf(commands.database, row);
    return { row, content: null, view: viewOf(row, call.caller.livemode, content, { usedBy }) };
  });

/**
 * Makes a new version of what an earlier one said and of the layers that are published now, and sends it from
 * now on.
 */
export const restoreVersion = (commands: TemplateCommands, call: TemplateCall<VersionBody>) =>
  changeByVersion(commands, call, async (before, found) => {
    const { caller, now } = call;
    // It is compiled again: the present renderer may be newer than that of its time.
    const order = { owner: caller, id: before.id, kind: before.kind, now, unheard: call.unheard };
    const content = await compile(commands, authoredOf(found.content), order);
    if (content instanceof Failure) return content;
    const row = sending(before, before.latest + 1, now);
    const usedBy = await usersOf(commands.database, row);
    return { row, content, view: viewOf(row, caller.livemode, content, { usedBy }) };
  });

const BY_TEMPLATES: TemplateUse = {
  what: 'other templates, which its usedBy lists',
  where: isUsedByTemplates,
};

/**
 * Deletes a template with all its versions, unless something uses it. Emails that were made from it stay as
 * they are.
 */
export async function deleteTemplate(
  { database, versions, uses: usesAbove }: Pick<TemplateCommands, 'database' | 'versions' | 'uses'>,
  { caller, params }: TemplateCall,
): Promise<null | Failure> {
  const uses = [...usesAbove, BY_TEMPLATES];
  const row = await versions.find(caller, params.id);
  if (!row) return NO_TEMPLATE;
  const isUsed = uses.map(({ where }) => where('t.id'));
  const rows = await database.query(
    `delete from templates t where t.id = $1 and ${['true', ...isUsed.map((used) => `not ${used}`)].join(' and ')} returning t.id`,
    [row.id],
  );
  if (rows.length > 0) return null;
  return (await useOf(database, uses, row.id)) ?? NO_TEMPLATE;
}

/** The 409 that names what uses a template; null when nothing does. */
async function useOf(database: Database, uses: readonly TemplateUse[], id: string): Promise<Failure | null> {
  for (const { what, where } of uses) {
    const rows = await database.query(`select t.id from templates t where t.id = $1 and ${where('t.id')}`, [
      id,
    ]);
    if (rows.length > 0)
      return new Failure('CONFLICT', `The template is used by ${what}.`, {
        suggestion: 'Stop or change what uses it first.',
      });
  }
  return null;
}
