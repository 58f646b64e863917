import { describe, expect, test } from 'bun:test';
import { readContactFile, statusesOf } from '../../support/read-contact-file.ts';

// Headers that no table of services has: who has left is not subscribed, or the file is refused.

/** The statuses of a file with one further column, and the problems by which it is refused. */
async function read(header: string, cells: readonly string[], target?: string | null) {
  const lines = cells.map((cell, at) => `p${at}@x.example,"${cell}"`);
  const columns = target === undefined ? undefined : { [header]: target };
  const file = await readContactFile(`email,"${header}"\n${lines.join('\n')}\n`, columns && { columns });
  const statuses = statusesOf(file);
  return {
    problems: file.problems,
    statuses: cells.map((_, at) => statuses[`p${at}@x.example`] ?? 'refused'),
  };
}

const OUT = 'unsubscribed';
const NEVER = 'not subscribed';
const IN = 'subscribed';

type Rows = readonly (readonly [header: string, ...cells: (readonly [cell: string, status: string])[]])[];

const BY_CELLS: Rows = [
  ['Email Subscriber Status', ['Unsubscribed', OUT], ['Never subscribed', NEVER]],
  ['Email Subscriber Status', ['Never subscribed', NEVER]],
  ['Email Marketing: Subscription Status', ['UNSUBSCRIBED', OUT]],
  ['State', ['unsubscribed', OUT]],
  ['customer.email_marketing', ['unsubscribed', OUT], ['non-subscribed', NEVER]],
  ['Contact Type', ['Unsubscribed', OUT], ['', NEVER]],
  ['Email Preference', ['Do not contact', OUT]],
  ['Lead status', ['unsubscribed', OUT]],
  ['Foo', ['Opted out', OUT], ['N/A', NEVER]],
  ['Foo', ['Suppressed', OUT], ['Pending', NEVER]],
  ['Foo', ['Cleaned', OUT]],
  ['Foo', ['Bounced', OUT], ['Active', IN]],
  ['Foo', ['Complained', OUT]],
  ['Foo', ['Désabonné', OUT], ['Abgemeldet', OUT], ['dado de baja', OUT]],
];
const BY_HEADER: Rows = [
  ['Subscribed (Y/N)', ['N', OUT], ['Y', IN]],
  ['Unsubscribed (Y/N)', ['Y', OUT], ['N', IN]],
  ...[
    'Can be emailed',
    'Emailable',
    'Is mailable',
    'Receive emails',
    'receives_email',
    'Allow email',
    'Emails OK',
    'Mailable',
    'Email opt in',
    'Email Opt-In (yes/no)',
    'customer.email_marketing',
    'OK to email',
    'Wants newsletter',
    'canBeEmailed',
    'AllowMarketingEmails',
    'E-Mails erlaubt',
    'Email Marketing: Subscription Status',
    'Contactable',
    'Permission to email',
    'Recibir correos',
  ].map((header) => [header, ['no', OUT], ['yes', IN], ['FALSE', OUT]] as const),
  ...[
    'dnc',
    'DNC',
    'Do not contact',
    'do not contact/email',
    'Do Not Email (Y/N)',
    'Not emailable',
    'Cannot be emailed',
    'Unmailable',
    'No marketing emails',
    'Stop emails',
  ].map((header) => [header, ['1', OUT], ['0', IN]] as const),
];

const ENDED: Rows = [
  ...[
    'Newsletter cancelled',
    'Cancelled newsletter',
    'newsletterCancelled',
    'Newsletter declined',
    'Newsletter disabled',
    'Left newsletter',
    'Declined marketing consent',
    'No consent',
    'Expired consent',
    'No permission',
    'Without newsletter subscription',
    'Cancelled subscription to all emails',
    'Newsletter abgelehnt',
    'Kein Newsletter',
    'Von allen E-Mails abgemeldet',
    'Newsletter refusé',
    'Sans newsletter',
    'Sin consentimiento',
    'Newsletter cancelado',
    'Dado de baja de todos los correos electrónicos',
  ].map((header) => [header, ['yes', OUT], ['no', IN]] as const),
  ...[
    'Newsletter cancelled',
    'Newsletter cancelled on',
    'Newsletter beendet am',
    'Declined newsletter at',
  ].map((header) => [header, ['2026-01-02', OUT], ['', IN]] as const),
];
const COMPLAINED: Rows = ['Marked email as spam', 'Reported e-mail as spam', 'Flagged as spam'].map(
  (header) => [header, ['true', 'complained'], ['false', IN]] as const,
);

for (const [what, rows] of [
  ['whose cells state consent', BY_CELLS],
  ['whose header asks for it', BY_HEADER],
  ['whose header says that it has ended', ENDED],
  ['whose header tells of a complaint', COMPLAINED],
] as const)
  describe(`a column ${what} is one of consent`, () => {
    for (const [header, ...cells] of rows)
      test(`${header}: ${cells.map(([cell]) => cell).join(', ')}`, async () => {
        const { statuses, problems } = await read(
          header,
          cells.map(([cell]) => cell),
        );
        expect({ statuses, problems }).toEqual({ statuses: cells.map(([, status]) => status), problems: [] });
      });
  });

const DOUBTS: readonly (readonly [header: string, ...cells: string[]])[] = [
  ['State', 'CA', 'Unsubscribed'],
  ['Info', 'Unsubscribed by phone', 'Likes tea'],
  ['Last result', 'bounced', 'clicked'],
  ['Email Preference', 'All', 'None'],
  ['Annual subscription', 'yes', 'no'],
  ['Subscription to the gym', '1', '0', '2026-01-02'],
  ['Opt out of insurance', 'yes', 'no', '2026-01-02'],
  ['Opt out of insurance', '2026-01-02'],
  ['Marketing', 'no', 'yes'],
  ['Not unsubscribed', 'yes', 'no'],
  ['Subscription cancelled at', '2026-01-02'],
  ['Payment', 'bounced', 'unsubscribed', 'paid'],
  ['Cancelled subscription', 'yes', 'no'],
  ['Suscripción cancelada', '2026-01-02'],
  ['Newsletter not cancelled', 'yes', 'no'],
  ['Newsletter of Acme declined', 'yes', 'no'],
  ['Ha cancelado la suscripción a todos los correos electrónicos', 'sí', 'no'],
  ['Email deliverability status', 'Valid', 'Bounced'],
  ['Phone status', 'reached', 'Do not contact'],
  ['Last call', 'reached', 'Opted out'],
  ['The Monday letter', 'read', 'unsubscribed'],
  ['Phone', '+353 1 555 0100', 'Unsubscribed'],
  ['Telefon', '0151 555', 'abgemeldet'],
  ['Consent end date', '2027-11-01', '2025-11-01'],
  ['Newsletter ends on', '2027-11-01', ''],
];
describe('a column that may be of consent, and cannot be read for certain, refuses the file', () => {
  for (const [header, ...cells] of DOUBTS)
    test(`${header}: ${cells.join(', ')}`, async () => {
      const { problems } = await read(header, cells);
      expect(problems).toEqual([
        {
          path: `/query/columns/${header}`,
          message: expect.stringMatching(/may say who may be written to.*Say in columns what it becomes/),
        },
      ]);
      for (const target of [null, 'properties.about', 'unsubscribed'])
        expect((await read(header, cells, target)).problems).toEqual([]);
    });

  test('also where it has more different texts than are kept', async () => {
    const cells = Array.from({ length: 40 }, (_, at) => `text ${at}`);
    expect((await read('Opt-out details', cells)).problems).toHaveLength(1);
    expect((await read('Details', cells)).problems).toEqual([]);
  });
});

const OTHERS: readonly (readonly [header: string, ...cells: string[]])[] = [
  ['State', 'CA', 'NY', ''],
  ['Lead status', 'Open', 'Qualified'],
  ['Contact Type', 'Lead', 'Customer'],
  ['Contact person', 'yes', 'no'],
  ['Customer', 'active', 'inactive'],
  ['Hand', 'left', 'right'],
  ['Subscription', 'Gold', 'Pro'],
  ['Subscription No.', ...Array.from({ length: 40 }, (_, at) => `${1_000 + at}`)],
  ['Marketing source', 'Google', 'Fair'],
  ['Adoption', 'yes', 'no'],
  ['Option', 'yes', 'no'],
  ['SMS opt in', 'yes', 'no'],
  ['SMS_CAMPAIGNS', 'Subscribed', 'Unsubscribed'],
  ['SMS subscriber status', 'Subscribed', 'Never subscribed', ''],
  ['Phone Channel Status', 'Unsubscribed', 'unknown'],
  ['Last email opened', 'yes', 'no'],
  ['Unsubscribe link', 'https://x.example/u/1'],
];
describe('a column about something else goes on to be a property', () => {
  for (const [header, ...cells] of OTHERS)
    test(`${header}: ${cells.join(', ')}`, async () => {
      expect(await read(header, cells)).toEqual({ problems: [], statuses: cells.map(() => IN) });
    });
});

const MANY = Array.from({ length: 40 }, (_, at) => `Met at event ${at}`);
test.each([
  ['among forty other values', [...MANY, 'Unsubscribed']],
  ['first among forty other values', ['opted out', ...MANY]],
  ['between tags', ['VIP, Unsubscribed', 'VIP']],
  ['between tags among forty others', [...MANY, 'Customer;Do not contact;2024']],
  ['behind a long list of tags', [`${'customer of 2023, '.repeat(20)}unsubscribed`]],
])('a word of leaving %s refuses a column of notes or tags', async (_, cells) => {
  for (const header of ['Notes', 'Tags']) {
    expect((await read(header, cells)).problems).toMatchObject([{ path: `/query/columns/${header}` }]);
    // Whatever the column is about is for the request to say.
    expect((await read(header, cells, null)).problems).toEqual([]);
  }
});

test('a column of notes that names no leaving is a property, however many values it has', async () => {
  const { problems, statuses } = await read('Notes', [...MANY, 'Asked how one unsubscribes from calls']);
  expect(problems).toEqual([]);
  expect(new Set(statuses)).toEqual(new Set([IN]));
});
