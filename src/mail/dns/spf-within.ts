/** The records that an SPF record includes, as receivers read them. */
import type { Resolver } from './resolver.ts';
import { isLookedUp, MOST_LOOKUPS, wrongTerm } from './spf-terms.ts';
import { type ExpectedRecord, isSpf, readTerms } from './txt-rules.ts';

const TARGET = /^(?:[-+?~]?include:|redirect=)([^%]+)$/;

/**
 * The walk through a record: its terms that were looked up, and the first reason for which receivers refuse
 * all of it. It ends at a record that is not answered, since each takes seconds and the check has to end
 * within its lease.
 */
interface Walk {
  lookups: number;
  problem: string | null;
  isCutOff: boolean;
}

/**
 * The problem of an SPF record in the records that it includes; null where there is none. Receivers count
 * their terms as well, and refuse the whole record for an included one that they cannot read (RFC 7208 4.6.4,
 * 5.2). Its owner has to know, but the included records are others' and change without them: mail that leaves
 * today must not stop for it.
 */
export async function includedProblem(
  { name }: ExpectedRecord,
  found: readonly string[],
  resolver: Resolver,
): Promise<string | null> {
  const walk: Walk = { lookups: 0, problem: null, isCutOff: false };
  const { terms, all } = readTerms(found.find(isSpf) ?? '');
  await follow(terms, all, resolver, walk);
  return walk.problem === null ? null : `In the SPF record at ${name}, ${walk.problem}.`;
}

/** Goes through terms in their order, which ends soon: each included record is a term that is looked up. */
async function follow(
  terms: readonly string[],
  all: string | null,
  resolver: Resolver,
  walk: Walk,
): Promise<void> {
  for (const term of terms) {
    if (!isLookedUp(term) || (all !== null && term.startsWith('redirect='))) continue;
    walk.lookups++;
    if (walk.lookups > MOST_LOOKUPS)
      walk.problem ??= `receivers look up more than ${MOST_LOOKUPS} terms, those of included records among them, and so refuse all of it (RFC 7208 4.6.4): leave out what no server of yours needs`;
    const [, target] = TARGET.exec(term) ?? [];
    if (walk.problem === null && target !== undefined) await include(term, target, resolver, walk);
    if (walk.problem !== null || walk.isCutOff) return;
  }
}

async function include(term: string, target: string, resolver: Resolver, walk: Walk): Promise<void> {
  const answer = await resolver.txt(target.replace(/\.$/, ''));
  if (answer.status === 'failed') {
    walk.isCutOff = true;
    return;
  }
  const policies = answer.status === 'found' ? answer.records.filter(isSpf) : [];
  const [policy, ...others] = policies;
  const wrong = policy === undefined ? null : wrongTerm(policy);
  if (policy === undefined) walk.problem = `${term} leads to no SPF record`;
  else if (others.length > 0) walk.problem = `${term} leads to ${policies.length} SPF records`;
  else if (wrong !== null) walk.problem = `${term} leads to a record with ${wrong}`;
  if (walk.problem !== null) walk.problem += ', for which receivers refuse all of it: leave it out';
  else if (policy !== undefined) {
    const { terms, all } = readTerms(policy);
    await follow(terms, all, resolver, walk);
  }
}
