import { Link, useLocation } from 'wouter';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { sizeText } from '../../ui/display/format.ts';
import { Headers } from '../../ui/display/headers.tsx';
import { Message } from '../../ui/display/message.tsx';
import { Time } from '../../ui/display/time.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Facts, Page, PendingPage } from '../../ui/page.tsx';
import { CheckPanel } from '../check.tsx';
import { Spam } from './spam.tsx';

const BACK = { to: '/captured', text: 'Captured mail' };

/** One captured message, as its recipient would have got it. */
export default function CapturedDetail({ id }: { readonly id: string }) {
  const { may } = useViewer();
  const [, navigate] = useLocation();
  const { data, error, refetch } = useRead('GET /captured/{id}', { path: { id } });
  const discard = useChange('DELETE /captured/{id}');
  if (!data)
    return <PendingPage title="Captured mail" back={BACK} error={error} onRetry={() => void refetch()} />;
  return (
    <Page
      title={data.subject || '(no subject)'}
      back={BACK}
      about={
        <>
          To {data.recipient}, <Time at={data.capturedAt} />
        </>
      }
      actions={
        may('emails:send') && (
          <Button
            busy={discard.isPending}
            onClick={() =>
              discard.mutate({ path: { id } }, () => {
                toast('Captured message deleted');
                navigate('/captured');
              })
            }
          >
            Delete message
          </Button>
        )
      }
    >
      <Message list="captured" id={id} html={data.html} text={data.text} raw={data.raw} />
      <CheckPanel of="GET /captured/{id}/check" id={id} />
      <Spam id={id} />
      <Card title="Envelope">
        <Facts
          facts={{
            From: data.from,
            Recipient: data.recipient,
            'Return path': <span className="font-mono text-caption break-all">{data.returnPath}</span>,
            Size: sizeText(data.size),
            Attachments: data.attachments
              .map(({ filename, contentType, size }) => `${filename ?? contentType} (${sizeText(size)})`)
              .join(', '),
            Email: (
              <Link href={`/emails/${data.emailId}`} className="link font-mono text-caption break-all">
                {data.emailId}
              </Link>
            ),
          }}
        />
      </Card>
      <Headers headers={data.headers} />
    </Page>
  );
}
