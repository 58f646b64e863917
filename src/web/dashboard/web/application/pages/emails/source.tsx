import { useEffect, useState } from 'react';
import type { Email } from '../../../../../client/operations.ts';
import { useDownload, useRead } from '../../api/queries.ts';
import { Copyable } from '../../ui/display/copyable.tsx';
import { sizeText } from '../../ui/display/format.ts';
import { Failed, Skeleton } from '../../ui/display/states.tsx';

/** Characters of a message that are shown; the whole of it can be stored. */
const LONGEST = 262_144;

/** The message as it leaves or has left for its first recipient. */
export function Source({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /emails/{id}/raw', { path: { id } });
  const file = useDownload('GET /emails/{id}/raw', { path: { id } });
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    void data?.text().then(setText);
  }, [data]);
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />;
  if (text === null) return <Skeleton className="h-96 w-full" />;
  return (
    <div className="grid gap-3">
      <a className="link" href={file} download>
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
  return (
    <ul className="grid gap-0.5">
      {email.attachments.map((file, number) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attachment is named by its number
        <FileLink key={number} id={email.id} number={number} file={file} />
      ))}
    </ul>
  );
}

function FileLink(props: {
  readonly id: string;
  readonly number: number;
  readonly file: Email['attachments'][number];
}) {
  const { id, number, file } = props;
  const href = useDownload('GET /emails/{id}/attachments/{number}', { path: { id, number: String(number) } });
  return (
    <li>
      <a className="link break-all" href={href} download>
        {file.filename}
      </a>{' '}
      ({sizeText(file.size)})
    </li>
  );
}
