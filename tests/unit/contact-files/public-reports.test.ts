import { describe, expect, test } from 'bun:test';
import { readContactFile, statusesOf } from '../../support/read-contact-file.ts';

// Files of public bug reports about imports of other services, and of what they export: each person is named
// after the status that is right.

const FILES: Readonly<Record<string, string>> = {
  'mautic/mautic#9027: donotContact is read over':
    'email,donotContact\nunsubscribed1@x.example,TRUE\nunsubscribed2@x.example,yes\nsubscribed1@x.example,0\n',
  'mautic/mautic#1601: Do Not Email is read over':
    'Email,Do Not Email\nunsubscribed1@x.example,TRUE\nunsubscribed2@x.example,1\nsubscribed1@x.example,false\n',
  'mautic/mautic#11679: the reason of a report':
    'email,Do Not Contact Channel,Do Not Contact Reason\nunsubscribed1@x.example,email,Unsubscribed\nsubscribed1@x.example,,\nbounced1@x.example,email,Bounced\n',
  'knadh/listmonk#65: a byte order mark before email':
    '\ufeffemail,status\nsubscribed1@x.example,enabled\nunsubscribed1@x.example,blocklisted\n',
  'knadh/listmonk#738: the status of one list':
    'uuid,email,name,attributes,status,subscription_status,created_at\n1,subscribed1@x.example,A,{},enabled,confirmed,x\n2,unsubscribed1@x.example,B,{},enabled,unsubscribed,x\n3,out1@x.example,C,{},enabled,unconfirmed,x\n',
  'knadh/listmonk#2363: the unsubscribed of Mailchimp':
    'Email Address,First Name,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_CAMPAIGN_ID,UNSUB_REASON\nunsubscribed1@x.example,A,2025-01-02 03:04:05,News,1a2b,N/A (Unknown)\n',
  'Mailtrain-org/mailtrain#547: statuses as words':
    'email,status\nsubscribed1@x.example,subscribed\nbounced1@x.example,bounced\ncomplained1@x.example,complained\n',
  'mailpoet/mailpoet#7113: the status is dropped':
    'Email,First name,Last name,List,Global status,List status\nsubscribed1@x.example,A,,News,Subscribed,Subscribed\nbounced1@x.example,B,,News,Bounced,Subscribed\nunsubscribed1@x.example,C,,News,Inactive,Subscribed\n',
  'phpList: confirmed, blacklisted, bouncecount':
    'id,email,confirmed,blacklisted,bouncecount,htmlemail,subscribepage\n1,subscribed1@x.example,1,0,0,1,0\n2,unsubscribed1@x.example,1,1,0,1,0\n3,out1@x.example,0,0,2,1,0\n',
  'Keila: unreachable':
    'Email,First name,Last name,Data,Status,External ID\nsubscribed1@x.example,A,,{},active,1\nunsubscribed1@x.example,B,,{},unsubscribed,2\nbounced1@x.example,C,,{},unreachable,3\n',
  'CiviCRM: No Bulk Emails':
    'Email,Do Not Email,No Bulk Emails (User Opt Out)\nunsubscribed1@x.example,0,1\nsubscribed1@x.example,0,0\nunsubscribed2@x.example,1,0\n',
  'Odoo: counts of bounces':
    'Email,Blacklist,Opt Out,Bounce\nunsubscribed1@x.example,FALSE,TRUE,0\nsubscribed1@x.example,FALSE,FALSE,3\n',
  'Salesforce: DoNotCall is no email':
    'Email,HasOptedOutOfEmail,DoNotCall,EmailBouncedReason,EmailBouncedDate\nunsubscribed1@x.example,1,0,,\nbounced1@x.example,0,1,550 5.1.1 no user,2024-01-01\nsubscribed1@x.example,0,1,,\n',
  'Klaviyo: suppressions':
    'Email,Email Suppressions,Email Suppressions Timestamp,Email Marketing Consent\nunsubscribed1@x.example,USER_SUPPRESSED,2024-01-01,NEVER_SUBSCRIBED\nbounced1@x.example,HARD_BOUNCE,2024-01-01,SUBSCRIBED\nsubscribed1@x.example,,,SUBSCRIBED\n',
  'Zoho: the mode of a leaving':
    'Email,Email Opt Out,Unsubscribed Mode,Unsubscribed Time\nsubscribed1@x.example,false,,\nunsubscribed1@x.example,true,Manual,2024-01-01 00:00:00\n',
  'CleverReach: the second of a leaving':
    'email;registered;activated;deactivated;source\nsubscribed1@x.example;1600000000;1600000100;0;form\nunsubscribed1@x.example;1600000000;1600000100;1650000000;form\n',
  'a Dutch list: Uitgeschreven':
    'Email,Voornaam,Uitgeschreven\nsubscribed1@x.example,Jan,nee\nunsubscribed1@x.example,Piet,ja\n',
  'a German shop: Werbesperre':
    'E-Mail;Name;Werbesperre\nsubscribed1@x.example;A;Nein\nunsubscribed1@x.example;B;Ja\n',
  'a French service: NPAI': 'Email;Prénom;NPAI\nsubscribed1@x.example;A;0\nbounced1@x.example;B;1\n',
  'Dynamics: Do not allow Bulk Emails':
    'Email,Do not allow Bulk Emails\nsubscribed1@x.example,Allow\nunsubscribed1@x.example,Do Not Allow\n',
  'a dump of MySQL: NULL for those who have not left':
    'email,unsubscribed_at\nsubscribed1@x.example,NULL\nsubscribed2@x.example,0000-00-00 00:00:00\nsubscribed3@x.example,None\nsubscribed4@x.example,N/A\nsubscribed5@x.example,-\nunsubscribed1@x.example,2024-01-02 03:04:05\nunsubscribed2@x.example,removed\n',
};

describe('a file of a public report', () => {
  for (const [report, text] of Object.entries(FILES))
    test(report, async () => {
      const file = await readContactFile(text);
      expect(file.batch.faults).toEqual([]);
      for (const [address, status] of Object.entries(statusesOf(file)))
        expect([address, status]).toEqual([
          address,
          /^[a-z]+/.exec(address)?.[0].replace('out', 'not subscribed') ?? '',
        ]);
    });

  // Codes that no table explains, and quotes that no reader of RFC 4180 takes, are reported and not guessed.
  for (const [report, text, code] of [
    ['Mailtrain 1: statuses as numbers', 'email,status\na@x.example,1\nb@x.example,2\n', 'unknown_status'],
    [
      'Newsletter for WordPress: C, U and B',
      'Email;Status\na@x.example;C\nb@x.example;U\n',
      'unknown_status',
    ],
    ['mailpoet/mailpoet#7113: backslashes', 'Email,Note\n"a@x.example","say \\"hi\\""\n', 'stray_quote'],
    ['mautic/mautic#8350: no address', 'email,Do not contact\nnot an address,1\n', 'invalid_email'],
  ] as const)
    test(report, async () => {
      const { batch } = await readContactFile(text);
      expect(batch.contacts.filter(({ leaves, begins_out }) => !leaves && !begins_out)).toEqual([]);
      expect(new Set(batch.faults.map(([, , each]) => each))).toEqual(new Set([code]));
    });

  test('alphagov/notifications-admin#4124: telephone numbers that a spreadsheet has shortened', async () => {
    const warningsOf = async (...cells: readonly string[]) => {
      const lines = cells.map((cell, at) => `subscribed${at}@x.example;${cell}`);
      const { plan } = await readContactFile(`email;Phone\n${lines.join('\n')}\n`);
      return plan.warnings?.map(({ header, message }) => `${header}: ${message}`) ?? [];
    };

    expect(await warningsOf('4.479E+11', '491713000000', '4,91713E+11')).toEqual([
      expect.stringMatching(
        /^Phone: 2 rows have a long number .* such as "4\.479E\+11": its last digits are lost\./,
      ),
    ]);
    // LibreOffice writes three digits of the exponent.
    expect(await warningsOf('1.23456789012346E+019')).toHaveLength(1);
    expect(await warningsOf('5E+11')).toHaveLength(1);
    expect(
      await warningsOf('1E5', '12E+4', '1.5E+3', '1.2345678901E+10', '2.5E-11', 'E+49', '+49 30 12'),
    ).toEqual([]);
  });
});
