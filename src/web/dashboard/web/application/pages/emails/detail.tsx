import { useState } from 'react';
import { Link } from 'wouter';
import type { Email } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { usePainted } from '../../ui/charts/painted.ts';
import { Badge } from '../../ui/display/badge.tsx';
import { Id } from '../../ui/display/copy-button.tsx';
import { momentText } from '../../ui/display/format.ts';
import { Message } from '../../ui/display/message.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { icons } from '../../ui/icons.tsx';
import { EmailMachineCard } from '../../ui/machine/email-machine.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Card, Facts, Page, PendingPage } from '../../ui/page.tsx';
import { useTemplateNames } from '../names.ts';
import { Explanation } from './explanation.tsx';
import { Reschedule } from './reschedule.tsx';
import { Files, Source } from './source.tsx';
import { Timeline } from './timeline.tsx';

const BACK = { to: '/emails', text: 'Emails' };

/** One email: what it said, what became of it and why. */
export default function EmailDetail({ id }: { readonly id: string }) {
  const { data: read = null, error, refetch } = useRead('GET /emails/{id}', { path: { id } }, { every: 500 });
  // The page is the largest that an answer brings: drawn at once, it would make a click wait.
  const data = usePainted(read);
  if (error && !data)
    return <PendingPage title="Email" back={BACK} error={error} onRetry={() => void refetch()} />;
  if (!data)
    return (
      <Page title="Email" heading={<Skeleton className="h-8 w-80 max-w-full" />} back={BACK}>
        <Skeleton className="h-96 w-full" />
      </Page>
    );
  return (
    <Page
      title={data.subject || '(no subject)'}
      back={BACK}
      about={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Badge status={data.status} />
          {data.status === 'scheduled' ? (
            <span>for {momentText(data.scheduledAt ?? data.createdAt)}</span>
          ) : (
            <Time at={data.createdAt} />
          )}
        </span>
      }
      actions={<Actions email={data} />}
    >
      <div className="grid grid-cols-1 items-start gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <Explanation email={data} />
          <Message list="emails" id={id} html={data.html} text={data.text} raw={() => <Source id={id} />} />
          <Envelope email={data} />
        </div>
        <Timeline email={data} />
      </div>
      <EmailMachineCard
        id={id}
        title="State machine"
        about="The path of this email, step by step. The next step lights up here as it happens."
      />
    </Page>
  );
}

function Actions({ email }: { readonly email: Email }) {
  const { may } = useViewer();
  const [asked, setAsked] = useState<'cancel' | 'reschedule' | null>(null);
  const close = () => setAsked(null);
  const cancel = useChange('DELETE /emails/{id}');
  return (
    <>
      <ButtonLink to={`/machines?kind=email&id=${email.id}`}>{icons.Machine} Show delivery path</ButtonLink>
      {email.status === 'scheduled' && may('emails:send') && (
        <>
          <Button onClick={() => setAsked('reschedule')}>Reschedule email</Button>
          <Button onClick={() => setAsked('cancel')}>Cancel email</Button>
        </>
      )}
      {asked === 'reschedule' && <Reschedule email={email} onClose={close} />}
      {asked === 'cancel' && (
        <Confirm
          title="Cancel this email?"
          action="Cancel email"
          keep="Keep email"
          onClose={close}
          done="Email cancelled"
          onConfirm={() => cancel.mutateAsync({ path: { id: email.id } })}
        >
          The email will not be sent. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

/** The template by its name, where the viewer may read it. */
function TemplateLink({ id, version }: { readonly id: string; readonly version: number | null }) {
  const name = useTemplateNames()[id];
  return (
    <>
      <Link href={`/templates/${id}`} title={id} className="link">
        {name ?? id}
      </Link>
      {version !== null && `, version ${version}`}
    </>
  );
}

const Envelope = ({ email }: { readonly email: Email }) => (
  <Card title="Envelope">
    <Facts
      facts={{
        From: email.from,
        To: email.to.join(', '),
        Cc: email.cc.join(', '),
        Bcc: email.bcc.join(', '),
        'Reply to': email.replyTo.join(', '),
        Tags: email.tags.map(({ name, value }) => `${name}:${value}`).join(', '),
        Attachments: email.attachments.length > 0 ? <Files email={email} /> : null,
        Calendar: email.calendar && (
          <details>
            <summary>{email.calendar.method}</summary>
            <pre className="font-mono text-caption whitespace-pre-wrap break-all">
              {email.calendar.content}
            </pre>
          </details>
        ),
        Headers:
          Object.keys(email.headers).length > 0 ? (
            <ul className="grid gap-0.5 font-mono text-caption">
              {Object.entries(email.headers).map(([name, value]) => (
                <li key={name} className="break-all">
                  {name}: {value}
                </li>
              ))}
            </ul>
          ) : null,
        'Message-ID': email.messageId && (
          <span className="font-mono text-caption break-all">{email.messageId}</span>
        ),
        Template: email.templateId && <TemplateLink id={email.templateId} version={email.templateVersion} />,
        Language: email.language,
        Id: <Id id={email.id} />,
      }}
    />
  </Card>
);
