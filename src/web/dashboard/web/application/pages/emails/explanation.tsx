import type { EmailStatus } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { toneOf } from '../../ui/display/badge.tsx';
import { momentText } from '../../ui/display/format.ts';
import { Skeleton } from '../../ui/display/states.tsx';

/** The reason for the email's status in a sentence, with its evidence and the next step. */
export function Explanation({ id, status }: { readonly id: string; readonly status: EmailStatus }) {
  const { data } = useRead('GET /emails/{id}/explain', { path: { id } });
  return (
    <section
      aria-label="Explanation of the status"
      data-color={toneOf(status)}
      className="card grid gap-2 border-l-4 border-l-(--state) p-5"
    >
      {data ? (
        <>
          <p className="font-medium break-words">{data.summary}</p>
          <p className="text-dim break-words">
            {data.next.at === null
              ? data.next.text
              : `${data.next.text.replace(/\.$/, '')}: ${momentText(data.next.at)}.`}
          </p>
          {data.evidence.length > 0 && (
            <details>
              <summary className="link min-h-6 cursor-pointer">Evidence</summary>
              <ul className="mt-2 grid gap-1 text-caption text-dim">
                {data.evidence.map(({ at, text }) => (
                  <li key={`${at} ${text}`} className="break-words">
                    <time dateTime={at}>{momentText(at)}</time>: {text}
                  </li>
                ))}
              </ul>
            </details>
          )}
        </>
      ) : (
        <>
          <Skeleton className="h-5 w-3/4" />
          <Skeleton className="h-5 w-1/2" />
        </>
      )}
    </section>
  );
}
