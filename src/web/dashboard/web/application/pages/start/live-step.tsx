import { Link } from 'wouter';
import { useChange } from '../../api/queries.ts';
import { useMember, useViewer } from '../../api/viewer.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { EmailMachineCard } from '../../ui/machine/email-machine.tsx';
import { Card } from '../../ui/page.tsx';
import { useStartDomain } from './domain-step.tsx';
import { Outcome } from './test-step.tsx';

/** The first live email, sent to the person who is signed in. */
export function LiveStep() {
  const { may } = useViewer();
  const { domain, items } = useStartDomain();
  const send = useChange('POST /emails', ['first steps', 'captured']);
  const id = send.data?.id ?? null;
  if (!items) return <Skeleton className="h-72 w-full" />;
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
      <Card
        title="Send a live email"
        about={
          domain?.provider === 'capture'
            ? 'This installation captures live email (TRANSPORT=capture): it is signed and stored under “Captured mail”.'
            : 'To yourself: the email is signed and sent, and the receiving server answers.'
        }
      >
        {!may('emails:send') ? (
          <p>Your role is read-only. Members of the workspace can send an email.</p>
        ) : domain?.status === 'verified' ? (
          <SendLive
            domain={domain.name}
            onSend={(body) => send.mutateAsync({ body })}
            isFirst={id === null}
          />
        ) : (
          <p>
            A verified domain is required.{' '}
            <Link href="/start/domain" className="link">
              {domain ? `View the records of ${domain.name}` : 'Add a domain'}
            </Link>
          </p>
        )}
        <div role="status" className="empty:-mt-4">
          {id !== null && <Outcome id={id} />}
        </div>
        {id !== null && domain?.provider === 'capture' && (
          <Link href="/captured" className="link">
            Open captured mail
          </Link>
        )}
      </Card>
      <EmailMachineCard
        id={id}
        title="The same state machine, live"
        about="Deferred email is retried for three days."
      />
    </div>
  );
}

function SendLive(props: {
  readonly domain: string;
  readonly isFirst: boolean;
  readonly onSend: (body: {
    readonly from: string;
    readonly to: string;
    readonly subject: string;
    readonly text: string;
  }) => Promise<unknown>;
}) {
  const { session } = useMember();
  return (
    <Form
      action={props.isFirst ? 'Send live email' : 'Send another'}
      onSend={({ from = '', to = '', subject = '' }) =>
        props.onSend({ from, to, subject, text: 'It was sent from the dashboard, and it is real.' })
      }
    >
      <Field label="From" name="from" defaultValue={`hello@${props.domain}`} inputMode="email" />
      <Field label="To" name="to" defaultValue={session.account.email} inputMode="email" />
      <Field label="Subject" name="subject" defaultValue="My first live email" />
    </Form>
  );
}
