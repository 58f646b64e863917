import { describe, expect, test } from 'bun:test';
import { readContactFile, statusesOf } from '../../support/read-contact-file.ts';

// A column takes people down by its whole name and by whole words. A word in the name, or a number in the
// cells, may be about something else.

/** The statuses and warnings of a file with one further column. */
async function read(header: string, cells: readonly string[], columns?: Readonly<Record<string, string>>) {
  const lines = cells.map((cell, at) => `p${at}@example.com,"${cell}"`);
  const file = await readContactFile(`email,"${header}"\n${lines.join('\n')}\n`, columns && { columns });
  const statuses = statusesOf(file);
  return {
    target: file.targets[header],
    statuses: cells.map((_, at) => statuses[`p${at}@example.com`] ?? 'refused'),
    warnings: file.plan.warnings?.map(({ message }) => message) ?? [],
  };
}

const MAKES_NO_STATUS: readonly (readonly [header: string, ...cells: string[]])[] = [
  // By values alone.
  ['phone', '512-555-0147', '550-555-0147', '+1 500 555 0006'],
  ['Deposit', '500', '550', '575'],
  ['Hand', 'left', 'right'],
  ['Hand side', 'left', 'left'],
  ['Order', 'cancelled', 'confirmed'],
  ['Booking', 'confirmed', 'cancelled', 'pending'],
  ['VAT check', 'confirmed', 'invalid'],
  ['Machine', 'active', 'inactive'],
  ['License', 'active', 'revoked'],
  ['Answer', 'confirmed', 'declined', 'unknown'],
  ['Ticket', 'opted out of the tour', 'confirmed'],
  ['Firmware', '5.1.1', '5.2.0', '4.0.1'],
  ['Note', 'spam', 'active'],
  // By a word in the name.
  ['Open complaints', '2', '1', '0'],
  ['Last complaint', '2026-01-02', ''],
  ['Complaint', 'Late delivery', 'No'],
  ['Complaint reason', 'Late delivery', 'Broken'],
  ['Complaints department', 'yes', 'no'],
  ['Beschwerde', 'Zu spät geliefert'],
  ['Bounces', '3', '1', '0'],
  ['Bounce back date', '2026-01-02'],
  ['Bounce campaign', 'Summer', 'Winter'],
  ['Excluded from discount', 'yes', 'no', '1'],
  ['Opt out of insurance', 'yes', 'no', '2026-01-02'],
  ['Withdrawn amount', '100', '1'],
  ['Withdrawn on', '2026-01-02'],
  ['Kündigungsfrist', '3 Monate', '1'],
  ['Gekündigt am', '31.12.2026'],
  ['Austragungsort', 'Wien', 'ja'],
  ['Widerrufsrecht', 'ja', 'nein'],
  ['Suppressed cough', 'yes', 'no'],
  ['Subscription cancelled at', '2026-01-02'],
  ['Unsubscribe link', 'https://x.example/u/1', 'https://x.example/u/2'],
  ['unsubscribe_id', 'a1b2', 'c3d4'],
  ['Number of unsubscribed friends', '1', '2'],
  ['Annual subscription', 'yes', 'no'],
  ['Subscription to the gym', '1', '0', '2026-01-02'],
  ['Anmeldung zum Kurs', 'ja', 'nein'],
  ['Not unsubscribed', 'yes', 'no'],
  ['Never bounced', 'yes', 'yes'],
];
describe('a column about something else takes no one down', () => {
  for (const [header, ...cells] of MAKES_NO_STATUS)
    test(`${header}: ${cells.join(', ')}`, async () => {
      const { target, statuses } = await read(header, cells);
      expect({ target, statuses }).toEqual({
        target: expect.stringMatching(/^properties\./),
        statuses: cells.map(() => 'subscribed'),
      });
    });

  test('is reported where it looks like consent, and not where its name says what it is', async () => {
    for (const header of ['Last complaint', 'Excluded from discount', 'Kündigungsfrist', 'Bounces'])
      expect([header, (await read(header, ['1', '2'])).warnings]).toEqual([
        header,
        [expect.stringContaining('looks like consent')],
      ]);
    expect((await read('Check', ['confirmed', 'invalid'])).warnings).toEqual([
      expect.stringMatching(/looks like consent.*"invalid".*Map it to status/),
    ]);
    // The origin of a sign-up, in exports of Mailchimp.
    expect((await read('OPTIN_IP', ['81.10.2.3', '151.20.3.4'])).warnings).toEqual([]);
    for (const header of ['Order', 'phone', 'VAT check'])
      expect([header, (await read(header, ['cancelled', '512-555-0147', 'left'])).warnings]).toEqual([
        header,
        [],
      ]);
  });

  test('is read once the request says that it is consent', async () => {
    const columns = { 'Excluded from discount': 'unsubscribed' };
    expect((await read('Excluded from discount', ['yes', 'no'], columns)).statuses).toEqual([
      'unsubscribed',
      'subscribed',
    ]);
  });
});

const STATES: readonly (readonly [header: string, ...rows: (readonly [cell: string, status: string])[]])[] = [
  [
    'Complained',
    ['yes', 'complained'],
    ['0', 'subscribed'],
    ['2026-01-02', 'complained'],
    ['cold', 'refused'],
  ],
  ['Complaint', ['yes', 'complained'], ['', 'subscribed'], ['Late delivery', 'refused']],
  ['Marked as spam', ['TRUE', 'complained'], ['FALSE', 'subscribed']],
  ['complained_at', ['2026-01-02T03:04:05Z', 'complained'], ['0000-00-00 00:00:00', 'subscribed']],
  ['Open complaints', ['complained', 'complained'], ['none', 'subscribed'], ['later', 'refused']],
  [
    'Bounce Type',
    ['Soft', 'subscribed'],
    ['Hard', 'bounced'],
    ['Transient', 'subscribed'],
    ['', 'subscribed'],
  ],
  ['Bounce reason', ['550 5.1.1 unknown', 'bounced'], ['452 4.2.2 full', 'subscribed']],
  ['Bounced', ['1', 'bounced'], ['no', 'subscribed'], ['3', 'refused'], ['Soft bounce', 'subscribed']],
  ['Email hard bounce reason', ['UNKNOWN_USER', 'bounced'], ['SPAM', 'bounced'], ['', 'subscribed']],
  ['email_blacklisted', ['1', 'unsubscribed'], ['0', 'subscribed']],
  ['emailOptOut', ['true', 'unsubscribed'], ['false', 'subscribed']],
  ['Opted out of email: Number of the week', ['Yes', 'unsubscribed'], ['', 'subscribed']],
  ['Consent withdrawn', ['yes', 'unsubscribed'], ['no', 'subscribed']],
  ['Einwilligung widerrufen am', ['31.12.2025', 'unsubscribed'], ['', 'subscribed']],
  ['No longer subscribed', ['yes', 'unsubscribed'], ['no', 'subscribed']],
  ['Consent declined', ['yes', 'unsubscribed'], ['no', 'subscribed']],
  ['Abmeldegrund', ['Kein Interesse', 'unsubscribed'], ['', 'subscribed']],
  ['UNSUB_REASON', ['You sent spam', 'unsubscribed'], ['NULL', 'subscribed']],
  ['unsubscribed_at', ['NULL', 'subscribed'], ['0000-00-00', 'subscribed'], ['n/a', 'subscribed']],
  ['Confirmed', ['1', 'subscribed'], ['0', 'not subscribed'], ['', 'not subscribed']],
  ['Photo consent', ['yes', 'subscribed'], ['no', 'not subscribed']],
  ['Newsletter', ['yes', 'subscribed'], ['no', 'unsubscribed']],
  ['Excluded', ['yes', 'unsubscribed'], ['no', 'subscribed']],
  ['status', ['never complained', 'refused'], ['Unsubscribed by admin', 'unsubscribed'], ['512', 'refused']],
  ['Zustand', ['aktiv', 'subscribed'], ['abgemeldet', 'unsubscribed'], ['unzustellbar', 'unsubscribed']],
];
describe('a column with the whole name of consent is read cell by cell', () => {
  for (const [header, ...rows] of STATES)
    test(header, async () => {
      const { statuses, warnings } = await read(
        header,
        rows.map(([cell]) => cell),
      );
      expect(statuses).toEqual(rows.map(([, status]) => status));
      const hasUnknown = rows.some(([, status]) => status === 'refused');
      expect(warnings.some((message) => message.includes('not understood'))).toBe(hasUnknown);
    });

  test('and the plan says how many people it takes down, and to what', async () => {
    const cells = ['active', 'unsubscribed', 'unsubscribed', 'bounced', 'complained', 'pending'];
    const wanted =
      'This column says who may not be written to: 1 row complained, 1 row bounced, 2 rows unsubscribed, 1 row added as unsubscribed where they are new.';
    expect((await read('Status', cells)).warnings).toEqual([expect.stringContaining(wanted)]);
    expect((await read('Zustand', ['aktiv', 'abgemeldet', 'abgemeldet'])).warnings).toEqual([
      expect.stringContaining('2 rows unsubscribed.'),
    ]);
    expect((await read('Abgemeldet am', ['1.2.2026', '', 'ja'])).warnings).toEqual([
      expect.stringContaining('2 rows unsubscribed.'),
    ]);
    // Any number of other columns may look like consent.
    const others = Array.from({ length: 30 }, (_, at) => `Excluded from gift ${at}`);
    const { plan } = await readContactFile(
      `email,${others.join()},Unsubscribed\na@example.com,${others.map(() => 'yes').join()},yes\n`,
    );
    expect(plan.warnings?.[0]).toMatchObject({ header: 'Unsubscribed' });
  });

  test('in a list of opt-outs the newsletter is what was left', async () => {
    const file = await readContactFile(
      'Email,Portal Bounce,Portal Unsubscribe,Newsletter,Product news\na@example.com,,,TRUE,\nb@example.com,,,,TRUE\n',
    );
    expect(statusesOf(file)).toEqual({ 'a@example.com': 'unsubscribed', 'b@example.com': 'unsubscribed' });
  });
});

describe('a name of a file that is about those who are left', () => {
  for (const filename of [
    'contacts-without-bounces.csv',
    'no unsubscribes.csv',
    'Liste ohne Abgemeldete.csv',
  ])
    test(filename, async () => {
      const file = await readContactFile('email\na@example.com\n', { filename });
      expect([statusesOf(file), file.plan.warnings]).toEqual([{ 'a@example.com': 'subscribed' }, []]);
    });
});
