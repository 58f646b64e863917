import { expect, test } from 'bun:test';
import { listColumns, reasonOfLine } from '../../../src/sending/suppressions/list-columns.ts';

const LISTS: readonly (readonly [
  service: string,
  header: string,
  lines: readonly (readonly [string, string])[],
])[] = [
  [
    'Postmark',
    'EmailAddress,SuppressionReason,Origin,CreatedAt',
    [
      ['a@x.example,HardBounce,Recipient,2019-12-17', 'bounced'],
      ['a@x.example,SpamComplaint,Recipient,2019-12-17', 'complained'],
      ['a@x.example,ManualSuppression,Recipient,2019-12-17', 'manual'],
    ],
  ],
  [
    'Amazon SES',
    'EmailAddress,Reason,LastUpdateTime',
    [
      ['a@x.example,BOUNCE,2026-01-01', 'bounced'],
      ['a@x.example,COMPLAINT,2026-01-01', 'complained'],
    ],
  ],
  [
    'SendGrid, bounces',
    'status,reason,email,created',
    [
      ['5.1.1,550 5.1.1 The email account that you tried to reach does not exist,a@x.example,1', 'bounced'],
      [',unknown address,a@x.example,1', 'manual'],
    ],
  ],
  ['SendGrid, unsubscribes', 'email,created', [['a@x.example,1', 'manual']]],
  [
    'Mailgun, bounces',
    'address,code,error,created_at',
    [['a@x.example,550,550 No such user here,x', 'bounced']],
  ],
  ['Mailgun, unsubscribes', 'address,tags,created_at', [['a@x.example,*,x', 'manual']]],
  [
    'Brevo',
    'Email,Reason,Date',
    [
      ['a@x.example,Hard bounce,x', 'bounced'],
      ['a@x.example,unsubscribedViaEmail,x', 'unsubscribed'],
      ['a@x.example,contactFlaggedAsSpam,x', 'complained'],
      ['a@x.example,adminBlocked,x', 'manual'],
    ],
  ],
  [
    'Mailchimp, unsubscribed',
    'Email Address,First Name,UNSUB_TIME,UNSUB_REASON',
    [['a@x.example,Ada,2026-01-01 00:00:00,No longer interested', 'unsubscribed']],
  ],
  [
    'Mailchimp, cleaned',
    'Email Address,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE',
    [['a@x.example,2026-01-01,x', 'bounced']],
  ],
  [
    'Mailchimp, everyone',
    'Email Address,Email Marketing Status',
    [
      ['a@x.example,Subscribed', 'subscribed'],
      ['a@x.example,Cleaned', 'bounced'],
    ],
  ],
  [
    'our own',
    'address,reason,created_at',
    [
      ['a@x.example,bounced,x', 'bounced'],
      ['a@x.example,,x', 'manual'],
      ['a@x.example,silly,x', 'unknown'],
      ['a@x.example,They asked us on the phone,x', 'manual'],
    ],
  ],
];
for (const [service, header, lines] of LISTS)
  test(`a list of suppressions of ${service} is taken as it is`, () => {
    const columns = listColumns(header.split(','));
    if (!columns) throw new Error('No column of addresses was found.');
    const read = lines.map(([line]) => [
      line.split(',')[columns.address],
      reasonOfLine(line.split(','), columns),
    ]);
    expect(read).toEqual(lines.map(([, reason]) => ['a@x.example', reason]));
  });
