import { useQuery } from '@tanstack/react-query';
import type { SpamVerdict } from '../../../../../../mail/spam/spam-verdict.ts';
import { request } from '../../api/requests.ts';
import { Badge } from '../../ui/display/badge.tsx';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Card } from '../../ui/page.tsx';

/** The answer of the service. */
interface Judgement {
  readonly isConfigured: boolean;
  readonly verdict: SpamVerdict | null;
}

/** SpamAssassin's score of a captured message; empty where no SpamAssassin is configured. */
export function Spam({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['spam', id],
    // A message never changes, and SpamAssassin takes its time.
    staleTime: Number.POSITIVE_INFINITY,
    meta: { every: false },
    queryFn: async ({ signal }) =>
      (await request<Judgement>('GET', `live/captured/${id}/spam`, { signal })).data,
  });
  if (data?.isConfigured === false) return null;
  return (
    <Card title="SpamAssassin" about="The spam score of this message.">
      {error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : data?.verdict ? (
        <Score verdict={data.verdict} />
      ) : (
        <Skeleton className="h-16 w-full" />
      )}
    </Card>
  );
}

const Score = ({ verdict: { score, threshold, rules } }: { readonly verdict: SpamVerdict }) => (
  <>
    <p className="flex flex-wrap items-center gap-3">
      <span className="num text-figure font-semibold tracking-tight">{score.toFixed(1)}</span>
      <span className="text-dim">of {threshold.toFixed(1)} points; above this limit it is spam</span>
      <Badge status="score" tone={score >= threshold ? 'bad' : score >= threshold / 2 ? 'waiting' : 'good'}>
        {score >= threshold ? 'Spam' : 'Not spam'}
      </Badge>
    </p>
    {rules.length > 0 && (
      <table className="w-full">
        <caption className="sr-only">Matched rules</caption>
        <thead className="text-left text-caption text-dim">
          <tr>
            <th scope="col" className="w-20 py-1 pr-4 text-right font-medium">
              Points
            </th>
            <th scope="col" className="py-1 font-medium">
              Rule
            </th>
          </tr>
        </thead>
        <tbody>
          {rules.map(({ name, points, description, advice }) => (
            <tr key={name} className="border-t border-edge align-top">
              <td className="num py-2 pr-4 text-right">{points.toFixed(1)}</td>
              <td className="py-2 break-words">
                {description}
                <span className="block font-mono text-caption break-all text-dim">{name}</span>
                {advice !== null && <span className="block text-caption text-dim">{advice}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </>
);
