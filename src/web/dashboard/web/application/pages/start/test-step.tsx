import { useState } from 'react';
import { Link } from 'wouter';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { EmailMachineCard } from '../../ui/email-machine.tsx';
import { Choice, Form, Problem } from '../../ui/forms/form.tsx';
import { Card } from '../../ui/page.tsx';

/** How often the email is looked at until it has come to rest. */
const EVERY_MS = 400;
const IS_OVER: ReadonlySet<string> = new Set(['delivered', 'failed', 'cancelled']);

/** What the simulator makes of an email, by the name before its domain. */
const OUTCOMES = {
  delivered: 'It is delivered',
  deferred: 'It is put off twice, then delivered',
  bounced: 'It bounces for good',
  complained: 'It is delivered, and called spam',
} as const;

/** The first email: to the simulator, with its machine beside it. */
export function TestStep() {
  const { session, may } = useViewer();
  const [outcome, setOutcome] = useState('delivered');
  const send = useChange('POST /emails', ['first steps']);
  const id = send.data?.id ?? null;
  const to = `${outcome}@${session.simulatorDomain}`;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
      <Card
        title="Send a test email"
        about="It goes the whole way and never leaves: the address of the recipient chooses what happens to it. Nothing has to be set up."
      >
        {may('emails:send') ? (
          <Form
            action={id === null ? 'Send a test email' : 'Send another one'}
            onSend={() =>
              send.mutateAsync({
                body: {
                  from: 'Posthorn <hello@example.com>',
                  to,
                  subject: 'My first test email',
                  text: 'It was sent from the dashboard, and went nowhere.',
                },
              })
            }
          >
            <Choice
              label="What is to happen"
              name="outcome"
              options={OUTCOMES}
              defaultValue="delivered"
              onChange={setOutcome}
              hint={<span className="font-mono break-all">To {to}</span>}
            />
          </Form>
        ) : (
          <p>Your role reads only. A member of the workspace can send one.</p>
        )}
        <div role="status" className="empty:-mt-4">
          {id !== null && <Outcome id={id} />}
        </div>
      </Card>
      <EmailMachineCard
        id={id}
        title="Every email is a state machine"
        about="This is the one that runs. What happens to your email lights up here at the moment that it does."
      />
    </div>
  );
}

/** What has become of an email so far. */
export function Outcome({ id }: { readonly id: string }) {
  const [isOver, setOver] = useState(false);
  const { data, error } = useRead('GET /emails/{id}', { path: { id } }, { every: isOver ? false : EVERY_MS });
  const ended = data !== undefined && IS_OVER.has(data.status);
  if (ended !== isOver) setOver(ended);
  if (error) return <Problem>{error.message}</Problem>;
  if (!data) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Badge status={data.status} />
      {data.status === 'delivered' && 'It has arrived.'}
      <Link href={`/emails/${id}`} className="link">
        Look at it
      </Link>
    </p>
  );
}
