import { useState } from 'react';
import { Link } from 'wouter';
import { useChange, useRead } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Choice, Form, Problem } from '../../ui/forms/form.tsx';
import { EmailMachineCard } from '../../ui/machine/email-machine.tsx';
import { Card } from '../../ui/page.tsx';

/** The pause between two reads of the email, until its status is final. */
const EVERY_MS = 400;
const IS_OVER: ReadonlySet<string> = new Set(['delivered', 'failed', 'cancelled']);

/** The outcomes of the simulator, by the local part of the address. */
const OUTCOMES = {
  delivered: 'Delivered',
  deferred: 'Deferred twice, then delivered',
  bounced: 'Bounced permanently',
  complained: 'Delivered, then reported as spam',
} as const;

/** The first email: to the simulator, with its machine beside it. */
export function TestStep() {
  const { session, may } = useMember();
  const [outcome, setOutcome] = useState('delivered');
  const send = useChange('POST /emails', ['first steps']);
  const id = send.data?.id ?? null;
  const to = `${outcome}@${session.simulatorDomain}`;
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
      <Card
        title="Send a test email"
        about="It takes the whole delivery path but never leaves: the recipient's address chooses the outcome. No setup is needed."
      >
        {may('emails:send') ? (
          <Form
            action={id === null ? 'Send test email' : 'Send another'}
            onSend={() =>
              send.mutateAsync({
                body: {
                  from: 'Posthorn <hello@example.com>',
                  to,
                  subject: 'My first test email',
                  text: 'It was sent from the dashboard to the simulator.',
                },
              })
            }
          >
            <Choice
              label="Outcome"
              name="outcome"
              options={OUTCOMES}
              defaultValue="delivered"
              onChange={setOutcome}
              hint={<span className="font-mono break-all">To {to}</span>}
            />
          </Form>
        ) : (
          <p>Your role is read-only. Members of the workspace can send a test email.</p>
        )}
        <div role="status" className="empty:-mt-4">
          {id !== null && <Outcome id={id} />}
        </div>
      </Card>
      <EmailMachineCard
        id={id}
        title="Every email is a state machine"
        about="This machine handles your email. Each step lights up here as it happens."
      />
    </div>
  );
}

/** The status of an email, until it is final. */
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
      {data.status === 'delivered' && 'The email arrived.'}
      <Link href={`/emails/${id}`} className="link">
        View email
      </Link>
    </p>
  );
}
