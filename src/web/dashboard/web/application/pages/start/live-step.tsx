import { Link } from 'wouter';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { EmailMachineCard } from '../../ui/email-machine.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Card } from '../../ui/page.tsx';
import { useStartDomain } from './domain-step.tsx';
import { Outcome } from './test-step.tsx';

/** The first email to a real person: whoever is signed in. */
export function LiveStep() {
  const { may } = useViewer();
  const { domain, items } = useStartDomain();
  const send = useChange('POST /emails', ['first steps', 'captured']);
  const id = send.data?.id ?? null;
  if (!items) return <Skeleton className="h-72 w-full" />;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
      <Card
        title="Send a live email"
        about={
          domain?.provider === 'capture'
            ? 'This installation keeps live email here (TRANSPORT=capture): it is finished and signed, and you read it under “Captured mail”.'
            : 'To yourself: it is signed, leaves, and its receiving server answers.'
        }
      >
        {!may('emails:send') ? (
          <p>Your role reads only. A member of the workspace can send one.</p>
        ) : domain?.status === 'verified' ? (
          <SendLive
            domain={domain.name}
            onSend={(body) => send.mutateAsync({ body })}
            isFirst={id === null}
          />
        ) : (
          <p>
            It needs a domain whose records were found.{' '}
            <Link href="/start/domain" className="link">
              {domain ? `Look at those of ${domain.name}` : 'Add one'}
            </Link>
          </p>
        )}
        <div role="status" className="empty:-mt-4">
          {id !== null && <Outcome id={id} />}
        </div>
        {id !== null && domain?.provider === 'capture' && (
          <Link href="/captured" className="link">
            Read it in the captured mail
          </Link>
        )}
      </Card>
      <EmailMachineCard
        id={id}
        title="The same machine, now for real"
        about="It is put off and tried again for three days if it has to be."
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
  const { session } = useViewer();
  return (
    <Form
      action={props.isFirst ? 'Send it' : 'Send another one'}
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
