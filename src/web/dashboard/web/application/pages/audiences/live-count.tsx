import { Link } from 'wouter';
import { wholeName } from '../../../../../../platform/text/contact-fields.ts';
import { useQuestion, useSettled } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import { count } from '../../ui/display/format.ts';
import { Skeleton } from '../../ui/display/states.tsx';
import { Problem } from '../../ui/forms/form.tsx';
import { isFinished } from './fields.ts';
import { filterOf, type Group, isGroup, type Node } from './filter-tree.ts';

const SETTLE_MS = 350;

const isWhole = (node: Node): boolean =>
  isGroup(node)
    ? node.nodes.length > 0 && node.nodes.every(isWhole)
    : isFinished(node.value) && !/[.:]$/.test(node.field);

/** The problems that a refusal names in a filter, by JSON pointer. */
export const problemsOfFilter = (refused: RequestError | null) =>
  (refused?.details ?? [])
    .filter(({ path }) => path.startsWith('/body/filter'))
    .map(({ path, message }) => ({ path: path.replace('/body/filter', ''), message }));

/**
 * The service's answer about a filter that is being edited: the number of matches, a sample of them, and its
 * mistakes.
 */
export function useFilterCount(group: Group, enabled = true) {
  const settled = useSettled(group, SETTLE_MS);
  const isReady = isWhole(settled);
  const answer = useQuestion(
    'POST /audiences/preview',
    { body: { filter: filterOf(settled) } },
    { enabled: enabled && isReady },
  );
  const refused = isReady && answer.error instanceof RequestError ? answer.error : null;
  return {
    ...answer,
    isReady,
    isBusy: answer.isFetching || settled !== group,
    problems: problemsOfFilter(refused),
  };
}

/** The number of contacts that match a filter now, with a sample. */
export function LiveCount({ answer }: { readonly answer: ReturnType<typeof useFilterCount> }) {
  const { data, error, isReady, isBusy, problems } = answer;
  return (
    <section aria-label="Matching contacts" className="card grid grid-cols-1 content-start gap-3 p-5">
      <h2 className="text-caption text-dim">Matches now</h2>
      <p role="status" aria-busy={isBusy} className="num text-figure font-semibold">
        {!isReady || error ? '–' : data ? `${data.isExact ? '' : 'about '}${count(data.count)}` : '…'}
      </p>
      {!isReady && <p className="text-dim">Complete the condition to see the matching contacts.</p>}
      {isReady && error && problems.length === 0 && <Problem>{error.message}</Problem>}
      {isReady && !error && !data && <Skeleton className="h-24 w-full" />}
      {isReady && !error && data && (
        <ul aria-label="Sample of matching contacts" className="grid gap-2">
          {data.sample.map((contact) => (
            <li key={contact.id} className="min-w-0">
              <Link href={`/contacts/${contact.id}`} className="block truncate hover:underline">
                {contact.email}
              </Link>
              {wholeName(contact) !== '' && (
                <span className="block truncate text-caption text-dim">{wholeName(contact)}</span>
              )}
            </li>
          ))}
          {data.count === 0 && <li className="text-dim">No contacts match.</li>}
        </ul>
      )}
    </section>
  );
}
