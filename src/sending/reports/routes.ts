import { type Route, route } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { type DmarcCounts, DomainReports, MOST_DAYS, ReportsQuery } from './model.ts';
import { readReports } from './queries.ts';

const DOMAIN_ID = { prefix: 'dom', resource: 'domain' } as const;

const COUNTS: DmarcCounts = {
  messages: 1_840,
  aligned: 1_836,
  dkimAligned: 1_836,
  spfAligned: 1_790,
  quarantined: 0,
  rejected: 0,
};

export const reportRoutes = (deps: { readonly database: Database }): readonly Route[] => [
  route('GET /v1/domains/:id/reports', {
    name: 'getDomainReports',
    permission: 'domains:read',
    summary: 'Sum the DMARC and TLS reports about a domain',
    description: `Mail servers report once a day which mail they saw from the domain, and whether DKIM and SPF were aligned with it; \`advice\` says what to do. Reports come by mail to \`dmarc@\` and \`tlsrpt@\` at the return path, where the service receives mail (\`INBOUND_SMTP_PORT\`) and the DNS records name these addresses. A report counts once, and only when SPF or DKIM proves its sender. Live and test keys see the same sums. At most ${MOST_DAYS} days.`,
    params: { id: DOMAIN_ID },
    query: ReportsQuery,
    response: DomainReports,
    example: {
      response: {
        domainId: 'dom_01m7xj1rwp4sersf8ggsa354',
        from: '2026-11-24',
        to: '2026-11-24',
        advice: {
          code: 'tooFew',
          sentence:
            '1,840 messages on 1 day are too few to judge: wait for 100 messages on 14 days before you make the policy stricter.',
          isQuarantineSafe: false,
        },
        dmarc: {
          reports: 3,
          policy: 'none',
          totals: COUNTS,
          days: [{ day: '2026-11-24', ...COUNTS }],
          sources: [{ address: '192.0.2.25', ...COUNTS }],
          reporters: [{ domain: 'google.com', reports: 1, messages: 1_420, policy: 'none' }],
        },
        tls: {
          reports: 1,
          successful: 310,
          failed: 2,
          failures: [{ type: 'certificate-expired', sessions: 2 }],
        },
        unverified: 0,
      },
    },
    handle: (call) => readReports(deps, call),
  }),
];
