import { Link } from 'wouter';
import type { ReceivedDetail } from '../../../../../client/operations.ts';
import { useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { Card } from '../../ui/page.tsx';
import { AnswerForm } from './answer-form.tsx';
import { senderOf } from './words.ts';

/** Messages of a thread that are shown; older ones are in the list. */
const MOST = 20;

/** The thread of a message with its answers, the oldest first, and a form that answers the message. */
export function Thread({ message }: { readonly message: ReceivedDetail }) {
  const { may } = useViewer();
  const { threadId, isAutomatic } = message;
  const { items, error, hasNextPage, refetch } = useList('GET /received', {
    query: { threadId, limit: MOST },
  });
  return (
    <Card
      title="Conversation"
      about={
        hasNextPage ? (
          <Link href={`/received?thread=${threadId}`} className="link">
            Show all messages
          </Link>
        ) : undefined
      }
    >
      {error && !items ? <Failed error={error} onRetry={() => void refetch()} /> : null}
      {items === undefined && !error && <Skeleton className="h-24 w-full" />}
      {items && (
        <ol aria-label="Conversation" className="grid gap-4">
          {items.toReversed().map(({ id }) => (
            <Letter key={id} id={id} isShown={id === message.id} />
          ))}
        </ol>
      )}
      {may('emails:send') &&
        (isAutomatic ? (
          <p className="text-dim">A program wrote this message, so it cannot be answered.</p>
        ) : (
          <AnswerForm message={message} />
        ))}
    </Card>
  );
}

const TEXT = 'max-h-80 overflow-y-auto font-sans break-words whitespace-pre-wrap';

/** One received message of the thread, and the emails that answer it. */
function Letter({ id, isShown }: { readonly id: string; readonly isShown: boolean }) {
  const { data } = useRead('GET /received/{id}', { path: { id } });
  if (!data) return null;
  const { replyText, text, createdAt, answers } = data;
  return (
    <>
      <li className="grid max-w-3xl gap-2 justify-self-start rounded-xl border border-edge px-4 py-3">
        <p className="flex flex-wrap items-baseline gap-x-3 text-caption text-dim">
          {isShown ? (
            <span className="font-medium text-ink">{senderOf(data)}</span>
          ) : (
            <Link href={`/received/${id}`} className="link">
              {senderOf(data)}
            </Link>
          )}
          <Time at={createdAt} />
        </p>
        <pre className={TEXT}>{(replyText ?? text ?? '').trim() || 'No text'}</pre>
      </li>
      {answers.map((emailId) => (
        <Answer key={emailId} id={emailId} />
      ))}
    </>
  );
}

/** An email that answers a message. One that is not kept any more is left out. */
function Answer({ id }: { readonly id: string }) {
  const { data } = useRead('GET /emails/{id}', { path: { id } });
  if (!data) return null;
  return (
    <li className="grid max-w-3xl gap-2 justify-self-end rounded-xl border border-edge-strong px-4 py-3">
      <p className="flex flex-wrap items-baseline gap-x-3 text-caption text-dim">
        <Link href={`/emails/${id}`} className="link">
          {data.from}
        </Link>
        <Time at={data.createdAt} />
        <Badge status={data.status} />
      </p>
      <pre className={TEXT}>{(data.text ?? '').trim() || 'No text'}</pre>
    </li>
  );
}
