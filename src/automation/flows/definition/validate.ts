import { and, eq, or } from 'drizzle-orm';
import type { FlowDefinition, FlowStep } from '../../../../machines/flow-run/definition.ts';
import { compileFlow } from '../../../../machines/flow-run/machine.ts';
import { findAudienceRow } from '../../../audience/audiences/queries.ts';
import { readProperties, type Scope } from '../../../audience/contacts/queries.ts';
import { Decider } from '../../../engine/machine/decide.ts';
import type { Database } from '../../../platform/db/database.ts';
import { templates } from '../../../platform/db/schema/templates.ts';
import type { Detail } from '../../../platform/errors/failure.ts';
import { filterProblems } from './filters.ts';
import { graphProblems } from './graph.ts';
import { unfilledTexts } from './unfilled.ts';

/** The services that validating a flow calls. */
export interface Validator {
  readonly database: Database;
  /** Returns the problem of a URL that requests are posted to; null when there is none. */
  problemOfUrl(url: string): Promise<string | null>;
}

/** Everything that keeps a flow from running, each with its place. @throws UnavailableError */
export async function problemsOf(
  validator: Validator,
  scope: Scope,
  definition: FlowDefinition,
): Promise<readonly Detail[]> {
  const graph = graphProblems(definition);
  const { database } = validator;
  const { trigger, exitWhen, steps } = definition;
  const references = await Promise.all([
    filterProblems(database, scope, trigger.filter, '/trigger/filter'),
    filterProblems(database, scope, exitWhen, '/exitWhen'),
    'audienceId' in trigger
      ? audienceProblems(validator, scope, trigger.audienceId, '/trigger/audienceId', false)
      : [],
    ...steps.map((step, index) => stepProblems(validator, scope, step, `/steps/${index}/config`)),
  ]);
  const unfilled = steps.flatMap((step, index) => unfilledTexts(step, `/steps/${index}/config`));
  const problems = [...graph, ...unfilled, ...references.flat()];
  if (problems.length === 0) new Decider(compileFlow(definition));
  return problems;
}

/** Every thing that a step names has to exist. */
async function stepProblems(
  validator: Validator,
  scope: Scope,
  step: FlowStep,
  at: string,
): Promise<readonly Detail[]> {
  const { database } = validator;
  switch (step.type) {
    case 'sendEmail': {
      const kind = await kindOfTemplate(database, scope, step.config.templateId);
      if (kind === 'template') return [];
      const message =
        kind === null
          ? 'This template does not exist.'
          : `This is a ${kind}, which is not sent by itself: name a template that uses it.`;
      return [{ path: `${at}/templateId`, message }];
    }
    case 'condition':
      return requiredFilter(database, scope, step.config.filter, `${at}/filter`);
    case 'branch': {
      const each = step.config.branches.map(({ filter }, index) =>
        requiredFilter(database, scope, filter, `${at}/branches/${index}/filter`),
      );
      return (await Promise.all(each)).flat();
    }
    case 'waitForEvent':
      return filterProblems(database, scope, step.config.filter, `${at}/filter`);
    case 'updateContact': {
      const read = readProperties(step.config.properties, `${at}/properties`);
      return Array.isArray(read) ? read : [];
    }
    case 'addToAudience':
    case 'removeFromAudience':
      return audienceProblems(validator, scope, step.config.audienceId, `${at}/audienceId`, true);
    case 'webhook': {
      const problem = await validator.problemOfUrl(step.config.url);
      return problem === null ? [] : [{ path: `${at}/url`, message: problem }];
    }
    default:
      return [];
  }
}

async function kindOfTemplate(
  database: Database,
  { workspaceId, livemode }: Scope,
  name: string,
): Promise<(typeof templates.$inferSelect)['kind'] | null> {
  const rows = await database.read((orm) =>
    orm
      .select({ kind: templates.kind })
      .from(templates)
      .where(
        and(
          eq(templates.workspaceId, workspaceId),
          eq(templates.livemode, livemode),
          or(eq(templates.id, name), eq(templates.alias, name)),
        ),
      ),
  );
  return rows[0]?.kind ?? null;
}

async function requiredFilter(
  database: Database,
  scope: Scope,
  filter: unknown,
  path: string,
): Promise<readonly Detail[]> {
  if (filter === undefined || filter === null) return [{ path, message: 'A filter is required.' }];
  return filterProblems(database, scope, filter, path);
}

async function audienceProblems(
  { database }: Validator,
  scope: Scope,
  id: string,
  path: string,
  isChanged: boolean,
): Promise<readonly Detail[]> {
  const row = await findAudienceRow({ database }, scope, id);
  if (!row) return [{ path, message: 'This audience does not exist.' }];
  if (!isChanged) return [];
  if (row.type === 'dynamic')
    return [{ path, message: 'This audience is dynamic: only its filter decides who is in it.' }];
  return row.confirm
    ? [{ path, message: 'This audience needs a confirmation from each person, which a flow cannot give.' }]
    : [];
}
