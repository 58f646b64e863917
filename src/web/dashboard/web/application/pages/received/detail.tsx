import { Link, useLocation } from 'wouter';
import type { ReceivedDetail } from '../../../../../client/operations.ts';
import { useChange, useDownload, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button, Download } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Id } from '../../ui/display/copy-button.tsx';
import { count, sizeText, wordsOf } from '../../ui/display/format.ts';
import { Headers } from '../../ui/display/headers.tsx';
import { Message } from '../../ui/display/message.tsx';
import { Time } from '../../ui/display/time.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Facts, Page, PendingPage } from '../../ui/page.tsx';
import { Thread } from './thread.tsx';
import { senderOf, subjectOf, TONES } from './words.ts';

const BACK = { to: '/received', text: 'Inbox' };

/** One received message: its content in an isolated frame, its files, and the posts to the webhook. */
export default function ReceivedPage({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /received/{id}', { path: { id } }, { every: 5_000 });
  if (!data) return <PendingPage title="Inbox" back={BACK} error={error} onRetry={() => void refetch()} />;
  return (
    <Page
      title={subjectOf(data)}
      back={BACK}
      about={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Badge status={data.status} tone={TONES[data.status]} />
          <span>
            From {senderOf(data)}, <Time at={data.createdAt} />
          </span>
        </span>
      }
      actions={<Actions message={data} />}
    >
      <Message list="received" id={id} html={data.html} text={data.text} />
      <Files message={data} />
      <Thread message={data} />
      <Card title="Envelope">
        <Facts
          facts={{
            ID: <Id id={data.id} />,
            Sender: data.envelope.from || 'None: a report or another answer of a server',
            Recipient: data.envelope.to,
            Tag: data.envelope.tag ?? '',
            'Written by': data.isAutomatic ? 'A program: do not answer it' : 'A person',
            Authentication: data.authentication
              ? `SPF ${data.authentication.spf}, DKIM ${data.authentication.dkim}, DMARC ${data.authentication.dmarc}`
              : 'Not checked',
            'Reply to': data.inReplyToEmail ? <RepliedTo email={data.inReplyToEmail} /> : '',
            Thread: (
              <Link href={`/received?thread=${data.threadId}`} className="link">
                All messages of the thread
              </Link>
            ),
            'Message-ID': <span className="font-mono text-caption break-all">{data.messageId}</span>,
            Size: sizeText(data.size),
          }}
        />
      </Card>
      {data.forward && <Forward forward={data.forward} />}
      <Posts message={data} />
      <Headers headers={data.headers} />
    </Page>
  );
}

/** The email that a message answers, with its contact, campaign and run of a flow. */
function RepliedTo({ email }: { readonly email: NonNullable<ReceivedDetail['inReplyToEmail']> }) {
  const { emailId, contactId, campaignId } = email;
  return (
    <span className="flex flex-wrap gap-x-3">
      <Link href={`/emails/${emailId}`} className="link">
        Email
      </Link>
      {contactId !== null && (
        <Link href={`/contacts/${contactId}`} className="link">
          Contact
        </Link>
      )}
      {campaignId !== null && (
        <Link href={`/campaigns/${campaignId}`} className="link">
          Campaign
        </Link>
      )}
    </span>
  );
}

function Actions({ message: { id, status, forward } }: { readonly message: ReceivedDetail }) {
  const isForward = status === 'forwarded' || forward !== null;
  const { may } = useViewer();
  const [, navigate] = useLocation();
  const raw = useDownload('GET /received/{id}/raw', { path: { id } });
  const redeliver = useChange('POST /received/{id}/redeliver');
  const discard = useChange('DELETE /received/{id}');
  return (
    <>
      <Download href={raw} name={`${id}.eml`}>
        Raw message
      </Download>
      {may('emails:send') && status !== 'kept' && (
        <Button
          busy={redeliver.isPending}
          onClick={() =>
            redeliver.mutate({ path: { id } }, isForward ? 'Message forwarded again' : 'Message posted again')
          }
        >
          {isForward ? 'Forward again' : 'Post again'}
        </Button>
      )}
      {may('emails:send') && (
        <Button
          busy={discard.isPending}
          onClick={() =>
            discard.mutate({ path: { id } }, () => {
              toast('Message deleted');
              navigate('/received');
            })
          }
        >
          Delete message
        </Button>
      )}
    </>
  );
}

function Files({ message: { id, attachments } }: { readonly message: ReceivedDetail }) {
  if (attachments.length === 0) return null;
  return (
    <Card title="Files" about="Strangers sent them: open only what you expect.">
      <ul className="grid gap-2">
        {attachments.map((file) => (
          <FileLink key={file.index} id={id} file={file} />
        ))}
      </ul>
    </Card>
  );
}

function Forward({ forward }: { readonly forward: NonNullable<ReceivedDetail['forward']> }) {
  return (
    <Card
      title="Forwarded to"
      about={
        <Link href={`/emails/${forward.emailId}`} className="link">
          The email that carries it
        </Link>
      }
    >
      <ul className="grid gap-1">
        {forward.recipients.map(({ address, status }) => (
          <li key={address}>
            {address}: {wordsOf(status)}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Posts({ message: { attempts, nextAttemptAt, stopReason } }: { readonly message: ReceivedDetail }) {
  if (attempts.length === 0 && stopReason === null) return null;
  return (
    <Card
      title="Attempts"
      about={
        nextAttemptAt !== null ? (
          <>
            Next attempt <Time at={nextAttemptAt} />
          </>
        ) : stopReason !== null ? (
          `Given up: ${wordsOf(stopReason)}.`
        ) : (
          `${count(attempts.length)} ${attempts.length === 1 ? 'attempt' : 'attempts'}.`
        )
      }
    >
      <ul className="grid gap-2">
        {attempts.map(({ attempt, attemptedAt, httpStatus, error, responseBody, durationMs }) => (
          <li key={attempt}>
            <Time at={attemptedAt} />:{' '}
            {httpStatus === 0 ? wordsOf(error ?? 'no answer') : `HTTP ${httpStatus}`}, {count(durationMs)} ms
            <pre className="font-mono text-caption break-all whitespace-pre-wrap text-dim">
              {responseBody}
            </pre>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function FileLink(props: { readonly id: string; readonly file: ReceivedDetail['attachments'][number] }) {
  const { index, filename, contentType, size } = props.file;
  const href = useDownload('GET /received/{id}/attachments/{index}', {
    path: { id: props.id, index: String(index) },
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Download href={href} name={filename}>
        {filename}
      </Download>
      <span className="text-dim">
        {contentType}, {sizeText(size)}
      </span>
    </li>
  );
}
