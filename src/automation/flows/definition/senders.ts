import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { FlowDefinition } from '../../../../machines/flow-run/definition.ts';
import type { Principal } from '../../../http/auth/principal.ts';
import type { Database } from '../../../platform/db/database.ts';
import { templates, templateVersions } from '../../../platform/db/schema/templates.ts';
import type { Detail } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';

/** The services that checking the senders of a flow calls. */
export interface SenderChecks {
  readonly database: Database;
  /** A domain that may send; null where it is not verified in the workspace. */
  findSendingDomain(workspaceId: string, name: string): Promise<object | null>;
}

const NONE =
  'The emails of this step have no sender: give the step or its template a from, or set the default sender of the workspace.';

/**
 * The steps whose emails no sender sends, each with its place. A run would leave them out one by one, long
 * after its author has looked. @throws UnavailableError
 */
export async function senderProblems(
  checks: SenderChecks,
  caller: Pick<Principal, 'workspaceId' | 'livemode' | 'senderDefaults'>,
  { steps }: FlowDefinition,
): Promise<readonly Detail[]> {
  const names = steps.flatMap((step) => (step.type === 'sendEmail' ? [step.config.templateId] : []));
  const ofTemplates = await sendersOf(checks.database, caller, [...new Set(names)]);
  const found = await Promise.all(
    steps.map(async (step, index): Promise<Detail | null> => {
      if (step.type !== 'sendEmail') return null;
      const ofTemplate = step.config.from ?? ofTemplates.get(step.config.templateId);
      // A template that does not exist is a problem by itself.
      if (ofTemplate === undefined) return null;
      const from = ofTemplate ?? caller.senderDefaults.from;
      const message = from === null ? NONE : await problemOf(checks, caller, from);
      return message === null ? null : { path: `/steps/${index}/config/from`, message };
    }),
  );
  return found.filter((problem) => problem !== null);
}

async function problemOf(
  checks: SenderChecks,
  { workspaceId, livemode }: Pick<Principal, 'workspaceId' | 'livemode'>,
  from: string,
): Promise<string | null> {
  const address = parseAddress(from);
  if (isProblem(address)) return `The sender of this step is no address: ${address.problem}`;
  if (!livemode || (await checks.findSendingDomain(workspaceId, address.domain))) return null;
  return `The emails of this step come from ${address.domain}, which is not verified in this workspace: verify the domain, or name another sender.`;
}

/** The senders of templates by the names that steps have for them; null where a template has none. */
async function sendersOf(
  database: Database,
  { workspaceId, livemode }: Pick<Principal, 'workspaceId' | 'livemode'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (names.length === 0) return new Map();
  const rows = await database.read((orm) =>
    orm
      .select({
        id: templates.id,
        alias: templates.alias,
        from: sql<string | null>`${templateVersions.content} ->> 'from'`,
      })
      .from(templates)
      .innerJoin(
        templateVersions,
        and(eq(templateVersions.templateId, templates.id), eq(templateVersions.version, templates.version)),
      )
      .where(
        and(
          eq(templates.workspaceId, workspaceId),
          eq(templates.livemode, livemode),
          or(inArray(templates.id, names), inArray(templates.alias, names)),
        ),
      ),
  );
  const byName = new Map(rows.map(({ id, from }) => [id, from]));
  for (const { alias, from } of rows) if (alias !== null) byName.set(alias, from);
  return byName;
}
