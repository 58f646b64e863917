import { Link } from 'wouter';
import { useQuestion, useSettled } from '../../api/queries.ts';
import { Refused } from '../../api/requests.ts';
import { count } from '../../ui/display/format.ts';
import { Skeleton } from '../../ui/display/states.tsx';
import { Problem } from '../../ui/forms/form.tsx';
import { nameOf } from '../names.ts';
import { isFinished } from './fields.ts';
import { filterOf, type Group, isGroup, type Node } from './filter-tree.ts';

const SETTLE_MS = 350;

const isWhole = (node: Node): boolean =>
  isGroup(node)
    ? node.nodes.length > 0 && node.nodes.every(isWhole)
    : isFinished(node.value) && !/[.:]$/.test(node.field);

/** What a refusal says of a filter, by its own pointers. */
export const problemsOfFilter = (refused: Refused | null) =>
  (refused?.details ?? [])
    .filter(({ path }) => path.startsWith('/body/filter'))
    .map(({ path, message }) => ({ path: path.replace('/body/filter', ''), message }));

/** What the service says of a filter while it is edited: how many it matches, a few of them, and what is wrong with it. */
export function useFilterCount(group: Group, enabled = true) {
  const settled = useSettled(group, SETTLE_MS);
  const isReady = isWhole(settled);
  const answer = useQuestion(
    'POST /audiences/preview',
    { body: { filter: filterOf(settled) } },
    { enabled: enabled && isReady },
  );
  const refused = isReady && answer.error instanceof Refused ? answer.error : null;
  return {
    ...answer,
    isReady,
    isBusy: answer.isFetching || settled !== group,
    problems: problemsOfFilter(refused),
  };
}

/** How many people a filter matches now, and a few of them. */
export function LiveCount({ answer }: { readonly answer: ReturnType<typeof useFilterCount> }) {
  const { data, error, isReady, isBusy, problems } = answer;
  return (
    <section aria-label="Who matches" className="card grid content-start gap-3 p-5">
      <h2 className="text-caption text-dim">Matches now</h2>
      <p role="status" aria-busy={isBusy} className="num text-figure font-semibold">
        {!isReady || error ? '–' : data ? `${data.isExact ? '' : 'about '}${count(data.count)}` : '…'}
      </p>
      {!isReady && <p className="text-dim">Finish the condition to see who it matches.</p>}
      {isReady && error && problems.length === 0 && <Problem>{error.message}</Problem>}
      {isReady && !error && !data && <Skeleton className="h-24 w-full" />}
      {isReady && !error && data && (
        <ul aria-label="Some of them" className="grid gap-2">
          {data.sample.map((contact) => (
            <li key={contact.id} className="min-w-0">
              <Link href={`/contacts/${contact.id}`} className="block truncate hover:underline">
                {contact.email}
              </Link>
              {nameOf(contact) !== '' && (
                <span className="block truncate text-caption text-dim">{nameOf(contact)}</span>
              )}
            </li>
          ))}
          {data.count === 0 && <li className="text-dim">Nobody, for now.</li>}
        </ul>
      )}
    </section>
  );
}
