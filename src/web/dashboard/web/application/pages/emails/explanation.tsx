import { Link } from 'wouter';
import type { Email } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { toneOf } from '../../ui/display/badge.tsx';
import { momentText } from '../../ui/display/format.ts';
import { Skeleton } from '../../ui/display/states.tsx';

/** The most recipients whose suppressions are linked. */
const MOST_LINKS = 3;

/** The reason for the email's status in a sentence, with its evidence and the next step. */
export function Explanation({ email: { id, status, failureReason, recipients } }: { readonly email: Email }) {
  const { may, environment } = useViewer();
  const { data } = useRead('GET /emails/{id}/explain', { path: { id } });
  // Test mail fails by the address of the simulator, and is never suppressed.
  const suppressed =
    environment === 'live' && failureReason === 'suppressed' && may('contacts:read')
      ? recipients.filter((each) => each.status === 'failed').slice(0, MOST_LINKS)
      : [];
  return (
    <section
      aria-label="Explanation of the status"
      data-color={toneOf(status)}
      className="card grid grid-cols-1 gap-2 border-l-4 border-l-(--state) p-5"
    >
      {data ? (
        <>
          <p className="font-medium break-words">{data.summary}</p>
          <p className="text-dim break-words">
            {data.next.at === null
              ? data.next.text
              : `${data.next.text.replace(/\.$/, '')}: ${momentText(data.next.at)}.`}
          </p>
          {suppressed.length > 0 && (
            <p className="flex flex-wrap gap-x-3">
              {suppressed.map(({ address }) => (
                <Link
                  key={address}
                  href={`/suppressions?address=${encodeURIComponent(address)}`}
                  className="link break-all"
                >
                  View suppression of {address}
                </Link>
              ))}
            </p>
          )}
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
