import { describe, expect, test } from 'bun:test';
import { readContactFile, statusesOf } from '../../support/read-contact-file.ts';

describe('a column that says who may be written to', () => {
  const CASES: readonly (readonly [
    service: string,
    header: string,
    rows: readonly (readonly [string, string])[],
  ])[] = [
    [
      'Mailchimp',
      'Email Marketing Status',
      [
        ['Subscribed', 'subscribed'],
        ['Non-Subscribed', 'not subscribed'],
        ['Cleaned', 'bounced'],
        ['Archived', 'not subscribed'],
      ],
    ],
    [
      'HubSpot',
      'Unsubscribed from all email',
      [
        ['true', 'unsubscribed'],
        ['', 'subscribed'],
        ['false', 'subscribed'],
      ],
    ],
    [
      'HubSpot',
      'Opted out of email: Marketing Information',
      [
        ['Yes', 'unsubscribed'],
        ['No', 'subscribed'],
      ],
    ],
    [
      'Salesforce',
      'Email Opt Out',
      [
        ['1', 'unsubscribed'],
        ['0', 'subscribed'],
        ['TRUE', 'unsubscribed'],
      ],
    ],
    [
      'Brevo',
      'BLACKLIST',
      [
        ['1', 'unsubscribed'],
        ['0', 'subscribed'],
      ],
    ],
    [
      'Brevo',
      'EMAIL_BLACKLISTED',
      [
        ['Yes', 'unsubscribed'],
        ['No', 'subscribed'],
      ],
    ],
    [
      'Klaviyo',
      'Email Marketing Consent',
      [
        ['SUBSCRIBED', 'subscribed'],
        ['UNSUBSCRIBED', 'unsubscribed'],
        ['NEVER_SUBSCRIBED', 'not subscribed'],
        ['', 'not subscribed'],
      ],
    ],
    [
      'listmonk',
      'status',
      [
        ['enabled', 'subscribed'],
        ['disabled', 'not subscribed'],
        ['blocklisted', 'unsubscribed'],
        ['unconfirmed', 'not subscribed'],
      ],
    ],
    [
      'ActiveCampaign',
      'Status',
      [
        ['Active', 'subscribed'],
        ['Unsubscribed', 'unsubscribed'],
        ['Unconfirmed', 'not subscribed'],
        ['Bounced', 'bounced'],
      ],
    ],
    [
      'MailerLite',
      'Status',
      [
        ['Active', 'subscribed'],
        ['Junk', 'complained'],
        ['Bounced', 'bounced'],
      ],
    ],
    [
      'Kit',
      'status',
      [
        ['confirmed', 'subscribed'],
        ['cancelled', 'unsubscribed'],
        ['complained', 'complained'],
        ['bounced', 'bounced'],
      ],
    ],
    [
      'Constant Contact',
      'Email permission status',
      [
        ['Express', 'subscribed'],
        ['Explicit', 'subscribed'],
        ['Implied', 'subscribed'],
        ['Unsubscribed', 'unsubscribed'],
        ['Pending', 'not subscribed'],
        ['Not set', 'not subscribed'],
      ],
    ],
    [
      'Constant Contact',
      'Confirmed Opt-Out Date',
      [
        ['2026-01-02', 'unsubscribed'],
        ['', 'subscribed'],
      ],
    ],
    [
      'Campaign Monitor',
      'Status',
      [
        ['Active', 'subscribed'],
        ['Deleted', 'not subscribed'],
        ['Unsubscribed', 'unsubscribed'],
      ],
    ],
    [
      'beehiiv',
      'Status',
      [
        ['active', 'subscribed'],
        ['inactive', 'unsubscribed'],
        ['pending', 'not subscribed'],
      ],
    ],
    [
      'Ghost',
      'subscribed_to_emails',
      [
        ['true', 'subscribed'],
        ['false', 'unsubscribed'],
      ],
    ],
    [
      'Substack',
      'email_disabled',
      [
        ['true', 'unsubscribed'],
        ['false', 'subscribed'],
      ],
    ],
    [
      'Mailjet',
      'IsExcludedFromCampaigns',
      [
        ['True', 'unsubscribed'],
        ['False', 'subscribed'],
      ],
    ],
    [
      'Mailjet',
      'IsUnsubscribed',
      [
        ['true', 'unsubscribed'],
        ['false', 'subscribed'],
      ],
    ],
    [
      'Mailjet',
      'IsSpamComplaining',
      [
        ['true', 'complained'],
        ['false', 'subscribed'],
      ],
    ],
    [
      'Sendy',
      'Status',
      [
        ['Soft bounced', 'not subscribed'],
        ['Marked as spam', 'complained'],
      ],
    ],
    [
      'Shopify',
      'Accepts Email Marketing',
      [
        ['yes', 'subscribed'],
        ['no', 'unsubscribed'],
      ],
    ],
    [
      'Resend',
      'unsubscribed',
      [
        ['true', 'unsubscribed'],
        ['false', 'subscribed'],
        ['perhaps', 'refused'],
      ],
    ],
    [
      'a form in German',
      'Newsletter',
      [
        ['ja', 'subscribed'],
        ['nein', 'unsubscribed'],
        ['', 'not subscribed'],
      ],
    ],
    [
      'a form in German',
      'Abgemeldet am',
      [
        ['31.12.2026', 'unsubscribed'],
        ['', 'subscribed'],
      ],
    ],
    [
      'a form in German',
      'Einwilligung',
      [
        ['WAHR', 'subscribed'],
        ['FALSCH', 'unsubscribed'],
        ['vielleicht', 'refused'],
      ],
    ],
    [
      'a form in French',
      'Désabonné',
      [
        ['oui', 'unsubscribed'],
        ['non', 'subscribed'],
        ['VRAI', 'unsubscribed'],
      ],
    ],
    [
      'a form in French',
      'Statut',
      [
        ['abonné', 'subscribed'],
        ['Désinscrit', 'unsubscribed'],
        ['en attente', 'not subscribed'],
      ],
    ],
    [
      'a form in Spanish',
      'Suscrito',
      [
        ['Sí', 'subscribed'],
        ['No', 'unsubscribed'],
      ],
    ],
    [
      'a form in Spanish',
      'Estado',
      [
        ['Activo', 'subscribed'],
        ['dado de baja', 'unsubscribed'],
        ['rebotado', 'bounced'],
      ],
    ],
    [
      'no service, by its values alone',
      'Zustand',
      [
        ['aktiv', 'subscribed'],
        ['abgemeldet', 'unsubscribed'],
      ],
    ],
  ];
  for (const [service, header, rows] of CASES)
    test(`${service}: ${header}`, async () => {
      const lines = rows.map(([cell], at) => `p${at}@example.com,${cell}`);
      const file = await readContactFile(`email,${header}\n${lines.join('\n')}\n`);
      const statuses = statusesOf(file);
      expect(rows.map((_, at) => statuses[`p${at}@example.com`] ?? 'refused')).toEqual(
        rows.map(([, status]) => status),
      );
      const hasUnknown = rows.some(([, status]) => status === 'refused');
      expect(file.plan.warnings?.some(({ message }) => message.includes('not understood')) ?? false).toBe(
        hasUnknown,
      );
    });

  test('is reported where it is left out or becomes a property', async () => {
    for (const target of [null, 'properties.x']) {
      const { plan } = await readContactFile('email,Unsubscribed\na@example.com,yes\n', {
        columns: { Unsubscribed: target },
      });
      expect(plan.warnings?.map(({ header }) => header)).toEqual(['Unsubscribed']);
    }
    const { plan } = await readContactFile(
      'email,Last result\na@example.com,bounced\nb@example.com,clicked\n',
    );
    expect(plan.warnings?.[0]?.message).toContain('becomes properties.Last_result');
  });

  test('is none where it is about other channels, figures and plans', async () => {
    const headers = [
      'SMS consent',
      'whatsapp_optin',
      'Subscription plan',
      'Unsubscribe rate',
      'Lead Status',
      'Option',
      'Member number',
    ];
    const { targets } = await readContactFile(
      `email,${headers.join()}\na@example.com${',x'.repeat(headers.length)}\n`,
    );
    for (const header of headers)
      expect([header, targets[header]]).toEqual([header, expect.stringMatching(/^properties/)]);
  });

  test('keeps when the person left, and the consent that the file states', async () => {
    const { batch } = await readContactFile(
      'Email Address,OPTIN_TIME,Consent source,UNSUB_TIME,UNSUB_REASON\na@example.com,2024-01-02 03:04:05,Fair,2026-02-03 04:05:06,No longer interested\nb@example.com,,,,\n',
    );
    expect(batch.contacts).toMatchObject([
      {
        leaves: 'unsubscribed',
        left_at: '2026-02-03T04:05:06.000Z',
        consent: { source: 'Fair', at: '2024-01-02T03:04:05.000Z' },
      },
      // In a file of those who left, the row says so, whatever it lacks.
      { leaves: 'unsubscribed', consent: null },
    ]);
  });
});

describe('a file whose name says that everyone in it has left', () => {
  for (const [filename, status] of [
    ['unsubscribed_members_export_1.csv', 'unsubscribed'],
    ['cleaned_email_audience_export_2.csv', 'bounced'],
    ['nonsubscribed_members_export_3.csv', 'not subscribed'],
    ['subscribed_members_export_4.csv', 'subscribed'],
    ['suppression_bounces.csv', 'bounced'],
    ['suppression_unsubscribes.csv', 'unsubscribed'],
    ['spam-complaints.csv', 'complained'],
    ['contacts cleaned.csv', 'subscribed'],
  ] as const)
    test(filename, async () => {
      const file = await readContactFile('Email Address,MEMBER_RATING\na@example.com,2\n', { filename });
      expect(statusesOf(file)).toEqual({ 'a@example.com': status });
      expect(file.plan.warnings).toHaveLength(status === 'subscribed' ? 0 : 1);
    });
});
