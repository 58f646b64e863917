import { Link } from 'wouter';
import { useMember } from '../../api/viewer.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { Card, Facts } from '../../ui/page.tsx';

/** The ways by which live mail comes to the routes. */
export function WaysIn() {
  const { receiving } = useMember().session;
  return (
    <Card title="How mail comes in" about="Routes take the messages of each way alike.">
      <Facts
        facts={{
          'Mail servers': !receiving.port
            ? 'Not open: INBOUND_SMTP_PORT is not set.'
            : receiving.tls
              ? 'The MX record in the DNS records of a domain names this service. STARTTLS is offered.'
              : 'The MX record in the DNS records of a domain names this service. Mail comes in clear text: neither SUBMISSION_TLS_CERT nor HTTPS_PORT is set.',
          'Amazon SES': receiving.sesUrl ? (
            <>
              Subscribe the address below to the SNS topic of your receipt rule, without raw message delivery.
              Give the subscription a delivery policy and a dead-letter queue, as the{' '}
              <a href="/docs/receive-mail" className="link">
                guide
              </a>{' '}
              shows: SNS discards mail after a minute otherwise.
            </>
          ) : (
            'Not taken: SES_INBOUND_TOPICS is not set.'
          ),
          'Other mailboxes': (
            <Link href="/mailboxes" className="link">
              Read by IMAP
            </Link>
          ),
        }}
      />
      {receiving.sesUrl && <Copyable label="Address for SNS" text={receiving.sesUrl} />}
    </Card>
  );
}
