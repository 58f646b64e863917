import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useChange, useRead } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { toneOf } from '../../ui/display/badge.tsx';
import { Problem } from '../../ui/forms/form.tsx';
import { Card } from '../../ui/page.tsx';

/** The pace at which a test email is read until its status is final. */
const EVERY_MS = 200;

/** The final states of an email. */
const IS_OVER: ReadonlySet<string> = new Set(['delivered', 'failed', 'cancelled']);

/** The card shows the error of the request itself. */
const shownBelow = (): void => {};

/** Sends an email to the simulator, and shows what becomes of it. */
export function TestEmail() {
  const { session, may } = useMember();
  const [seen, setSeen] = useState<readonly string[]>([]);
  const send = useChange('POST /emails');
  const to = `delivered@${session.simulatorDomain}`;
  const id = send.data?.id;
  const status = seen.at(-1);
  const isOver = status !== undefined && IS_OVER.has(status);
  const email = useRead(
    'GET /emails/{id}',
    { path: { id: id ?? '' } },
    { enabled: id !== undefined && may('emails:read'), every: isOver ? false : EVERY_MS },
  );
  const latest = email.data?.status;
  useEffect(() => {
    if (latest !== undefined) setSeen((before) => (before.at(-1) === latest ? before : [...before, latest]));
  }, [latest]);
  const problem = send.error ?? email.error;
  return (
    <Card
      title="Send test email"
      about={
        <>
          To <span className="font-mono text-caption break-all">{to}</span>, a simulator address: the email
          takes the whole delivery path but never leaves. No setup is needed.
        </>
      }
    >
      {may('emails:send') ? (
        <Button
          look="main"
          className="justify-self-start"
          busy={send.isPending}
          onClick={() => {
            setSeen([]);
            send.mutate(
              {
                body: {
                  from: 'Posthorn <hello@example.com>',
                  to,
                  subject: 'My first test email',
                  text: 'It was sent from the dashboard to the simulator.',
                },
              },
              ({ status }) => setSeen([status]),
              shownBelow,
            );
          }}
        >
          {id === undefined ? 'Send test email' : 'Send another'}
        </Button>
      ) : (
        <p>Your role is read-only. Members of the workspace can send a test email.</p>
      )}
      {problem && <Problem>{problem.message}</Problem>}
      <div role="status" className="empty:-mt-4">
        {status !== undefined && id !== undefined && (
          <p>
            {seen.map((each, at) => (
              <span key={seen.slice(0, at + 1).join()}>
                {at > 0 && <span className="text-faint"> → </span>}
                <strong data-color={toneOf(each)} className="state-text">
                  {each}
                </strong>
              </span>
            ))}
            {status === 'delivered' && ' The email arrived. '}
            <Link href={`/emails/${id}`} className="link">
              View email
            </Link>
          </p>
        )}
      </div>
    </Card>
  );
}
