import { useEffect, useState } from 'react';
import type { Email } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { sizeText } from '../../ui/display/format.ts';
import { Failed, Skeleton } from '../../ui/display/states.tsx';

/** Characters of a message that are shown; the whole of it can be stored. */
const LONGEST = 262_144;

/** The message as it leaves or has left for its first recipient. */
export function Source({ id }: { readonly id: string }) {
  const { environment } = useViewer();
  const { data, error, refetch } = useRead('GET /emails/{id}/raw', { path: { id } });
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    void data?.text().then(setText);
  }, [data]);
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />;
  if (text === null) return <Skeleton className="h-96 w-full" />;
  return (
    <div className="grid gap-3">
      <a className="link" href={`/app/api/${environment}/emails/${id}/raw`} download>
        Download message
      </a>
      <Copyable
        label={text.length > LONGEST ? 'Beginning of the message' : 'Raw message'}
        text={text.slice(0, LONGEST)}
      />
    </div>
  );
}

/** The files of an email, each to store. */
export function Files({ email }: { readonly email: Pick<Email, 'id' | 'attachments'> }) {
  const { environment } = useViewer();
  return (
    <ul className="grid gap-0.5">
      {email.attachments
        .map((file, number) => ({
          ...file,
          href: `/app/api/${environment}/emails/${email.id}/attachments/${number}`,
        }))
        .map(({ filename, size, href }) => (
          <li key={href}>
            <a className="link break-all" href={href} download>
              {filename}
            </a>{' '}
            ({sizeText(size)})
          </li>
        ))}
    </ul>
  );
}
