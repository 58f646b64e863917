import { Link } from 'wouter';
import { CODES } from '../../../../../docs/codes.ts';
import { useRead } from '../../api/queries.ts';
import { count, momentText } from '../../ui/display/format.ts';
import { Card, Facts, Page, PendingPage } from '../../ui/page.tsx';
import { keyNameOf, Outcome } from './outcome.tsx';

const BACK = { to: '/requests', text: 'Requests' } as const;

/** One request of an API key: what was asked, how it was answered, and what to do about a refusal. */
export default function RequestDetail({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /requests/{id}', { path: { id } }, { every: false });
  const keys = useRead('GET /api-keys', {}).data;
  if (!data) return <PendingPage title="Request" back={BACK} error={error} onRetry={() => void refetch()} />;
  const { method, path, route, status, durationMs, errorCode, apiKeyId, createdAt } = data;
  return (
    <Page
      title={`${method} ${path}`}
      heading={
        <span className="font-mono break-all">
          {method} {path}
        </span>
      }
      back={BACK}
    >
      {errorCode !== null && <Refusal code={errorCode} />}
      <Card title="Request">
        <Facts
          facts={{
            Status: <Outcome status={status} />,
            Received: momentText(createdAt),
            Took: `${count(durationMs)} ms`,
            Endpoint: (
              <span className="font-mono text-caption">
                {method} {route}
              </span>
            ),
            'API key': (
              <Link href={`/requests?apiKeyId=${apiKeyId}`} className="link">
                {keyNameOf(keys, apiKeyId)}
              </Link>
            ),
            'Request ID': <span className="font-mono text-caption break-all">{id}</span>,
          }}
        />
        <p className="text-dim">
          Bodies, queries and headers are not stored. The answer carried this request ID as{' '}
          <code>x-request-id</code>; the log of the service names it, too.
        </p>
      </Card>
    </Page>
  );
}

/** The meaning of an error code, and the way out. A code of a later version has no words here yet. */
function Refusal({ code }: { readonly code: string }) {
  const entry = code in CODES ? CODES[code as keyof typeof CODES] : null;
  return (
    <section
      aria-label="Reason"
      data-color="bad"
      className="card grid grid-cols-1 gap-2 border-l-4 border-l-(--state) p-5"
    >
      <p className="font-mono font-medium">{code}</p>
      {entry && <p className="break-words">{plain(entry.meaning)}</p>}
      {entry && <p className="text-dim break-words">{plain(entry.remedy)}</p>}
      <p>
        <a href={`/docs/errors#${code}`} className="link">
          Documentation of {code}
        </a>
      </p>
    </section>
  );
}

/** The texts mark code for the documentation. */
const plain = (text: string): string => text.replaceAll('`', '');
