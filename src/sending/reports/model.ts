import { type Static, Type } from '@sinclair/typebox';
import { literals } from '../../http/request/schema.ts';
import { TLS_FAILURE_TYPES } from '../../mail/inbound/aggregate/aggregate-report.ts';
import { MOST_OF_REPORTER_A_DAY, MOST_REPORTS_A_DAY, MOST_SOURCES_A_DAY } from './store.ts';

/** Sources and reporters in an answer; the totals count all. */
export const MOST_SOURCES = 100;
export const MOST_REPORTERS = 50;
/** Days in an answer. */
export const MOST_DAYS = 90;

const day = (description: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description, examples: ['2026-11-01'] }));

/** The query of GET /v1/domains/{id}/reports. */
export const ReportsQuery = Type.Object({
  from: day('The first day (UTC); 30 days up to `to` by default.'),
  to: day(`The last day (UTC), today by default. At most ${MOST_DAYS} days.`),
});

const count = (description: string) => Type.Integer({ minimum: 0, description });

const messages = {
  messages: count('Messages that receivers reported.'),
  aligned: count('Of them, those that passed DMARC: by DKIM, by SPF, or by both.'),
  dkimAligned: count('Those with a valid DKIM signature of the domain or its organization.'),
  spfAligned: count('Those for which SPF passed for the domain or its organization.'),
  quarantined: count('Those that receivers put aside as spam because of the policy.'),
  rejected: count('Those that receivers refused because of the policy.'),
};

export const ADVICE_CODES = [
  'noReports',
  'tooFew',
  'fixOwnSources',
  'quarantineIsSafe',
  'isEnforced',
] as const;

/** The answer of GET /v1/domains/{id}/reports. */
export const DomainReports = Type.Object(
  {
    domainId: Type.String(),
    from: Type.String({ format: 'date' }),
    to: Type.String({ format: 'date' }),
    advice: Type.Object({
      code: literals(ADVICE_CODES, { description: 'The advice, for programs.' }),
      sentence: Type.String({ description: 'What to do next.' }),
      isQuarantineSafe: Type.Boolean({
        description:
          'True when the mail of your servers passes DMARC, so that `p=quarantine` would put aside none of it.',
      }),
    }),
    dmarc: Type.Object({
      reports: count('The reports that counted. Each counts once, however often it is sent.'),
      policy: Type.Union([Type.String(), Type.Null()], {
        description:
          'The policy that receivers apply, by the DMARC record that the latest check of the domain found; null without a record.',
      }),
      totals: Type.Object(messages),
      days: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), ...messages }), {
        description: 'Every day, oldest first, those without a report included.',
      }),
      sources: Type.Array(
        Type.Object({
          address: Type.Union([Type.String(), Type.Null()], {
            description: `The address of the sending server; null for those beyond the ${MOST_SOURCES_A_DAY.toLocaleString('en')} of a day.`,
          }),
          ...messages,
        }),
        { description: `The ${MOST_SOURCES} sources with the most messages, most first.` },
      ),
      reporters: Type.Array(
        Type.Object({
          domain: Type.String({
            description: 'The registrable domain that the report came from, which SPF or DKIM has proven.',
          }),
          reports: count('Its reports.'),
          messages: count('The messages in them.'),
          policy: Type.Union([Type.String(), Type.Null()], {
            description:
              'The policy that its latest report found in DNS. Where it differs from `policy`, the reporter has read the record before its change, or another one.',
          }),
        }),
        { description: `The ${MOST_REPORTERS} reporters with the most messages.` },
      ),
    }),
    tls: Type.Object({
      reports: count('The TLS reports that counted.'),
      successful: count('Sessions with encryption as your policy wants it.'),
      failed: count('Sessions without it.'),
      failures: Type.Array(
        Type.Object({
          type: literals(TLS_FAILURE_TYPES, { description: 'The cause (RFC 8460, 4.3).' }),
          sessions: count('The sessions that failed for it.'),
        }),
      ),
    }),
    unverified: count(
      `Mails to the report addresses that counted for nothing: no report in them, a sender that neither SPF nor DKIM proves, a report about other domains, or one beyond the ${MOST_OF_REPORTER_A_DAY} of a reporter or the ${MOST_REPORTS_A_DAY.toLocaleString('en')} of all in a day.`,
    ),
  },
  { title: 'DomainReports' },
);

export type ReportsQuery = Static<typeof ReportsQuery>;
export type DomainReports = Static<typeof DomainReports>;
export type DmarcCounts = DomainReports['dmarc']['totals'];
