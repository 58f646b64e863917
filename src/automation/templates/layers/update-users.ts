import { answeredOnce } from '../../../http/request/idempotent.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type Detail, Failure, invalid } from '../../../platform/errors/failure.ts';
import { contentIn } from '../languages/translations.ts';
import { findTemplate } from '../queries.ts';
import { type CompileOrder, type Compilers, compile } from '../render/compile.ts';
import { authoredOf, type StoredContent } from '../render/content.ts';
import type { TemplateRow } from '../store.ts';
import { type FoundVersion, lengthOf, type Versions } from '../versions.ts';
import { MOST_UPDATED, type PartChange, type UpdateUsersBody, type UserUpdates } from './layer-model.ts';
import { type NewVersion, publishAll, readUsers } from './usage.ts';

/** The services that updating calls. */
export interface UserUpdater extends Compilers {
  readonly database: Database;
  readonly versions: Versions;
}

type UpdateCall = Call<{ readonly id: string }, unknown, UpdateUsersBody>;

const TOO_MANY = new Failure(
  'CONFLICT',
  `More than ${MOST_UPDATED} templates use it, which one request does not update.`,
  { suggestion: 'Update the layouts and partials that use it first, or save the templates one by one.' },
);
const FASTER = new Failure('CONFLICT', 'A template that uses it was changed by another request meanwhile.', {
  suggestion: 'Send it again.',
});
/** The most characters of all contents, before and after. */
const MOST_CHARACTERS = 33_554_432;
const TOO_LARGE = new Failure(
  'CONFLICT',
  `The templates that use it have more than ${MOST_CHARACTERS / 1_048_576} million characters together, which one request does not update.`,
  { suggestion: 'Save the templates one by one.' },
);
/** The number of times that it is decided again because another request was faster. */
const MOST_TRIES = 5;

/**
 * Publishes a new version of everything that uses a layout or partial, made of the versions that are
 * published now: all of them or, where one cannot be made, none. A dry run tells what would change.
 */
export const updateUsers = (
  updater: UserUpdater,
  call: UpdateCall,
): Promise<UserUpdates | Failure | Replay> =>
  // Repeated, it finds nothing more to update.
  answeredOnce(updater.database, call, async () => {
    const { caller, params, body } = call;
    const row = await findTemplate(updater, caller, params.id);
    if (row instanceof Failure) return row;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const planned = await plan(updater, call, row);
      if (planned instanceof Failure) return planned;
      const { versions, answer, problems } = planned;
      if (body.dryRun ?? false) return answer;
      if (problems.length > 0) return invalid(problems);
      if (versions.length === 0 || (await publishAll(updater.database, caller, versions))) return answer;
    }
    return FASTER;
  });

interface Plan {
  readonly versions: readonly NewVersion[];
  readonly answer: UserUpdates;
  readonly problems: readonly Detail[];
}

async function plan(updater: UserUpdater, call: UpdateCall, used: TemplateRow): Promise<Plan | Failure> {
  const { caller, body, now, unheard } = call;
  const rows = await readUsers(updater.database, used.id, MOST_UPDATED);
  if (rows.length > MOST_UPDATED) return TOO_MANY;
  const found: FoundVersion[] = [];
  let weight = 0;
  // One after the other, and no further than the memory allows.
  for (const row of rows) {
    const version = await updater.versions.read(row);
    if (!version) continue;
    weight += lengthOf(version.content);
    if (weight > MOST_CHARACTERS) return TOO_LARGE;
    found.push(version);
  }
  const users = inOrder(found);
  /** The versions that are not written yet, which those after them are made of. */
  const made = new Map<string, FoundVersion & Pick<NewVersion, 'draft'>>();
  const compilers: Compilers = { ...updater, versions: over(updater.versions, made) };
  const updates: UserUpdates['users'] = [];
  const problems: Detail[] = [];
  for (const { row, content: before } of users) {
    const order: CompileOrder = { owner: caller, id: row.id, kind: row.kind, now, unheard };
    const content = await compile(compilers, authoredOf(before), order);
    const { id, name, alias, kind, version: fromVersion } = row;
    const update = { id, name, alias, kind, fromVersion };
    if (content instanceof Failure) {
      const problem = reasonOf(content);
      updates.push({ ...update, toVersion: null, changes: [], problem });
      problems.push({ path: '/params/id', message: `${alias ?? id} cannot be updated. ${problem}` });
      continue;
    }
    if (pinsOf(content) === pinsOf(before)) continue;
    weight += lengthOf(content);
    if (weight > MOST_CHARACTERS) return TOO_LARGE;
    const draft = await draftOf(compilers, row, order);
    weight += draft ? lengthOf(draft) : 0;
    if (weight > MOST_CHARACTERS) return TOO_LARGE;
    const version = row.latest + 1;
    const latest = draft ? version + 1 : version;
    const updatedAt = Math.max(now, row.updated_at + 1);
    const next = { ...row, version, latest, revision: row.revision + 1, updated_at: updatedAt };
    made.set(id, { row: next, version, content, draft });
    updates.push({ ...update, toVersion: version, changes: changesOf(before, content), problem: null });
  }
  const answer = { templateId: used.id, version: used.version, dryRun: body.dryRun ?? false, users: updates };
  return { versions: [...made.values()], answer, problems };
}

/**
 * Makes the draft of a template again of the same layers, so that it stays newer than the published version
 * and the editor opens it. A draft that cannot be made of them stays as it is.
 */
async function draftOf(
  compilers: Compilers,
  row: TemplateRow,
  order: CompileOrder,
): Promise<StoredContent | null> {
  if (row.latest === row.version) return null;
  const found = await compilers.versions.read(row, row.latest);
  if (!found) return null;
  const content = await compile(compilers, authoredOf(found.content), order);
  return content instanceof Failure ? found.content : content;
}

/**
 * Those that others use first. The layers of a version include those of its layers, so what uses more comes
 * later.
 */
function inOrder(users: readonly FoundVersion[]): FoundVersion[] {
  const ids = new Set(users.map(({ row }) => row.id));
  const among = ({ content }: FoundVersion): number =>
    content.layered?.layers.filter(({ templateId }) => ids.has(templateId)).length ?? 0;
  return users.toSorted((one, other) => among(one) - among(other));
}

/** The versions as they are with some that are not written yet. */
const over = (
  versions: Versions,
  made: ReadonlyMap<string, FoundVersion>,
): Pick<Versions, 'find' | 'read'> => ({
  async find(owner, name) {
    const row = await versions.find(owner, name);
    return row && (made.get(row.id)?.row ?? row);
  },
  read: async (row, version = row.version) => {
    const found = made.get(row.id);
    return found?.version === version ? found : versions.read(row, version);
  },
});

const pinsOf = ({ layered }: StoredContent): string => JSON.stringify(layered?.layers ?? []);

const reasonOf = ({ message, extra }: Failure): string =>
  extra.details?.map((detail) => detail.message).join(' ') ?? message;

/** The most characters of a change that are shown. */
const LONGEST_SHOWN = 500;

/** The stretch of each part that differs. */
function changesOf(before: StoredContent, after: StoredContent): PartChange[] {
  return [null, ...Object.keys(after.translations)].flatMap((language) =>
    changesIn(language, contentIn(before, language).sources, contentIn(after, language).sources),
  );
}

function changesIn(
  language: string | null,
  before: StoredContent['sources'],
  after: StoredContent['sources'],
): PartChange[] {
  return (['subject', 'previewText', 'html', 'text'] as const).flatMap((part) => {
    const [old, now] = [before[part] ?? '', after[part] ?? ''];
    if (old === now) return [];
    let begin = 0;
    while (begin < old.length && old[begin] === now[begin]) begin++;
    let end = 0;
    const most = Math.min(old.length, now.length) - begin;
    while (end < most && old.at(-1 - end) === now.at(-1 - end)) end++;
    const middle = (text: string): string =>
      text
        .slice(begin, text.length - end)
        .slice(0, LONGEST_SHOWN)
        .toWellFormed();
    return [{ part, language, before: middle(old), after: middle(now) }];
  });
}
