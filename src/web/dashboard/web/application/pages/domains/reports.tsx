import type { DomainReports } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { Chart } from '../../ui/charts/chart.tsx';
import { Figures } from '../../ui/charts/figures.tsx';
import type { Tone } from '../../ui/display/event-looks.ts';
import { count, intervalText, share } from '../../ui/display/format.ts';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { countColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { Card } from '../../ui/page.tsx';

type Source = DomainReports['dmarc']['sources'][number];

const TONES = {
  noReports: 'waiting',
  tooFew: 'quiet',
  fixOwnSources: 'bad',
  quarantineIsSafe: 'good',
  isEnforced: 'good',
} as const satisfies Record<DomainReports['advice']['code'], Tone>;

/** The names of RFC 8460 in words. */
const FAILURES = {
  'starttls-not-supported': 'No STARTTLS',
  'certificate-host-mismatch': 'Certificate of another host',
  'certificate-expired': 'Certificate expired',
  'certificate-not-trusted': 'Certificate not trusted',
  'validation-failure': 'Validation failed',
  'tlsa-invalid': 'TLSA record invalid',
  'dnssec-invalid': 'DNSSEC invalid',
  'dane-required': 'DANE missing',
  'sts-policy-fetch-error': 'MTA-STS policy not reachable',
  'sts-policy-invalid': 'MTA-STS policy invalid',
  'sts-webpki-invalid': 'Certificate of the MTA-STS host invalid',
  other: 'Other',
} as const satisfies Record<DomainReports['tls']['failures'][number]['type'], string>;

const COLUMNS: readonly [Column<Source>, ...Column<Source>[]] = [
  { name: 'Source', cell: ({ address }) => <Lead title={address ?? 'Further sources'} /> },
  countColumn('Messages', ({ messages }) => messages, { width: 'w-24' }),
  {
    name: 'DKIM',
    width: 'w-20',
    from: 'sm',
    isRight: true,
    cell: ({ dkimAligned, messages }) => <span className="num">{share(dkimAligned, messages)}</span>,
  },
  {
    name: 'SPF',
    width: 'w-20',
    from: 'sm',
    isRight: true,
    cell: ({ spfAligned, messages }) => <span className="num">{share(spfAligned, messages)}</span>,
  },
  {
    name: 'Passed',
    width: 'w-20',
    isRight: true,
    cell: ({ aligned, messages }) => <span className="num">{share(aligned, messages)}</span>,
  },
];

/** The reports of other mail servers about the domain, and the advice. */
export function Reports({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /domains/{id}/reports', { path: { id } });
  return (
    <Card
      title="Reports"
      about="What mail servers reported about mail from this domain in the last 30 days. They report once a day."
    >
      {data ? (
        <Sums reports={data} />
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton className="h-40 w-full" />
      )}
    </Card>
  );
}

function Sums({ reports: { advice, dmarc, tls, unverified } }: { readonly reports: DomainReports }) {
  const { totals } = dmarc;
  return (
    <>
      <p data-color={TONES[advice.code]} className="state-text font-medium break-words">
        {advice.sentence}
      </p>
      {totals.messages > 0 && (
        <>
          <Figures
            figures={[
              { name: 'Messages', value: count(totals.messages) },
              { name: 'Passed DMARC', value: share(totals.aligned, totals.messages) },
              { name: 'Quarantined', value: count(totals.quarantined) },
              { name: 'Rejected', value: count(totals.rejected) },
            ]}
          />
          <Chart
            title="Reported messages by day"
            points={dmarc.days.map(({ day, messages }) => ({
              key: day,
              label: intervalText(`${day}T00:00`, 'day'),
              value: messages,
              isOpen: false,
            }))}
          />
          <Table
            label="Sources of mail from this domain"
            list={{ items: dmarc.sources, error: null, refetch: () => undefined }}
            columns={COLUMNS}
            keyOf={({ address }) => address ?? ''}
            empty={null}
          />
        </>
      )}
      {tls.reports > 0 && (
        <p>
          Encryption: {count(tls.successful)} sessions as your policy wants them, {count(tls.failed)} without
          {tls.failures.length === 0
            ? '.'
            : `: ${tls.failures.map(({ type, sessions }) => `${FAILURES[type]} (${count(sessions)})`).join(', ')}.`}
        </p>
      )}
      <p className="text-caption text-dim">
        {count(dmarc.reports)} DMARC and {count(tls.reports)} TLS reports, days in UTC.
        {unverified > 0 &&
          ` ${count(unverified)} mails to the report addresses proved nothing and do not count.`}
      </p>
    </>
  );
}
