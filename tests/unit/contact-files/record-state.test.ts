import { describe, expect, test } from 'bun:test';
import { pointerSegment } from '../../../src/platform/errors/schema-errors.ts';
import { readContactFile, statusesOf } from '../../support/read-contact-file.ts';

// Columns of real exports that tell of a person's record, or in another language or form, who has left: the
// person is not subscribed, or the file is refused.

interface Column {
  readonly header: string;
  /** Cells of people who may be written to. */
  readonly fine: readonly string[];
  readonly out: readonly string[];
}

const column = (header: string, fine: readonly string[], out: readonly string[]): Column => ({
  header,
  fine,
  out,
});
const sameCells = (fine: readonly string[], out: readonly string[], headers: string): readonly Column[] =>
  headers.split(', ').map((header) => column(header, fine, out));

async function read(header: string, cells: readonly string[], columns?: Readonly<Record<string, null>>) {
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = cells.map((text, at) => `p${at}@x.example,${cell(text)}`);
  const file = await readContactFile(
    `email,${cell(header)}\n${lines.join('\n')}\n`,
    columns ? { columns } : {},
  );
  const statuses = statusesOf(file);
  return {
    problems: file.problems,
    statuses: cells.map((_, at) => statuses[`p${at}@x.example`] ?? 'refused'),
  };
}

const YES_IS_OUT =
  `disabled, Deleted, is_deleted, IsDeleted, inactive, Email Invalid, Invalid email address, Email Suspended,
  email1_is_bad, Email address quarantined, On Hold, Email On Hold, Archived, Stopped, Blocked, Banned, Cancelled, Deceased, Gelöscht,
  Inaktiv, Entfernt, Eliminado, Supprimé, Deleted (Y/N), Inaktiv (J/N), Not active, No longer active, isNotActive, Nicht aktiv, No activo,
  Email not valid, Unverified, Removed from list, Removed from mailing list, Left list, Account closed`.replace(
    /\s+/g,
    ' ',
  );
const NO_IS_OUT =
  `enabled, active, accept, is_active, Contact active, User enabled, Aktiv, Actif, Activo, Attivo, Actief, valid,
  Email valid, Email verified, Deliverable, activated, Active (Y/N), Active (yes/no), Not deleted`.replace(
    /\s+/g,
    ' ',
  );
const TIME_IS_OUT =
  `Date deleted, deleted_at, cancelled_at, Deleted on, Removed on, Stop Time, Date Stopped, DateHeld, Hold Date,
  inactive_since, deactivated_at, suspended_at, left_at, archived_at, disabled_at, cancellation_date, Email Suspended At, Gelöscht am,
  Austrittsdatum, Ausgetreten am, Deleted from list on, Supprimé le, Fecha de eliminación, Date de suppression`.replace(
    /\s+/g,
    ' ',
  );

const REFUSED: readonly Column[] = [
  ...sameCells(['0', 'no', ''], ['1', 'yes', 'TRUE'], YES_IS_OUT),
  ...sameCells(['1', 'yes', 'TRUE'], ['0', 'no', ''], NO_IS_OUT),
  ...sameCells(['', 'NULL', '0000-00-00'], ['2024-01-02', '2024-01-02T03:04:05.000Z'], TIME_IS_OUT),
  column('email_verified_at', ['2024-01-02'], ['', 'NULL']),
  column('Active', ['Active', 'valid'], ['Expired', 'paused', 'Not active', '0.0']),
  column('Deleted', ['Not deleted', '0.0', 'none'], ['1.0', '5', 'by admin']),
  column('Stop', ['12', 'Berlin'], ['yes', '2024-01-02', '02.01.2024', '1/2/24', '2-Jan-2024', 'stopped']),
  column('Email Address Quarantine Reason', [''], ['SUSPICIOUS_DELIVERY']),
  column('Cancellation', [''], ['too many emails']),
  column('Verification status', ['verified'], ['pending', 'unverified']),
  column('Cancellation reason', [''], ['too many emails']),
  column('State', ['active'], ['cancelled', 'inactive']),
  column('statecode', ['Active'], ['Inactive']),
  column('State code', ['Active'], ['Inactive']),
  column('Mitgliedsart', ['aktiv'], ['inaktiv']),
  column('Mitgliedsstatus', ['aktiv'], ['ausgetreten']),
  column('Customer state', ['active'], ['expired', 'no longer active']),
  column('type', ['regular', 'premium'], ['removed', 'unactivated', 'unconfirmed', 'undeliverable']),
  column('Email availability', ['available'], ['unreachable']),
  column('Email delivery', ['Daily summary'], ['No Email']),
  column('reception', ['mail'], ['nomail', 'suspend']),
  column('Segment', ['Customers'], ['Opt-outs', 'Suppression list']),
  column('Email frequency', ['weekly'], ['never']),
  column('member_status_id', ['a'], ['o', 'e']),
  column('cio_subscription_preferences', ['{"topics":{"1":true}}'], ['{"topics":{"1":false}}']),
  column('unsubscribedChannelIds', ['[]', ''], ['[1,2]']),
  column('Kontaktart', ['Marketing-Kontakt und mehr'], ['Nicht-Marketing-Kontakt']),
];

describe('a column about the record of a person refuses the file where a record has ended', () => {
  for (const { header, fine, out } of REFUSED)
    test(`${header}: ${out.join(', ')}`, async () => {
      for (const cell of out) {
        const { problems } = await read(header, [...fine, cell]);
        expect([cell, problems]).toEqual([
          cell,
          [
            {
              path: `/query/columns${pointerSegment(header)}`,
              message: expect.stringContaining('Say in columns what it becomes'),
            },
          ],
        ]);
        expect((await read(header, [...fine, cell], { [header]: null })).problems).toEqual([]);
      }
    });

  // The name leaves open whether yes is a consent to all mail.
  for (const header of ['email_notifications', 'bulk_mail', 'Werbung', 'IsOptInPending'])
    test(`${header}, whatever it answers`, async () => {
      for (const cell of ['yes', 'no']) expect((await read(header, [cell])).problems).toHaveLength(1);
    });

  for (const { header, fine } of REFUSED)
    test(`and not where none has: ${header}`, async () => {
      for (const cell of fine)
        expect([cell, await read(header, [cell, cell])]).toEqual([
          cell,
          { problems: [], statuses: ['subscribed', 'subscribed'] },
        ]);
    });

  test('also where every cell says so', async () => {
    for (const header of ['enabled', 'active', 'aktiv', 'Email verified', 'activated_at'])
      for (const cell of ['0', 'no', '0.0'])
        expect([header, cell, (await read(header, [cell, cell])).problems.length]).toEqual([header, cell, 1]);
  });

  test('and not where every cell is empty, or counts something', async () => {
    for (const header of ['enabled', 'active', 'Email verified', 'activated_at', 'deleted'])
      for (const cell of ['', 'NULL'])
        expect([header, (await read(header, [cell, cell])).problems]).toEqual([header, []]);
    const counts = Array.from({ length: 40 }, (_, at) => `${at}`);
    expect((await read('active', [...counts, ''])).problems).toEqual([]);
  });

  test('also where it has more different moments than are kept', async () => {
    const moments = Array.from({ length: 40 }, (_, at) => `2024-01-02 03:04:${at + 10}`);
    expect((await read('deleted_at', moments)).problems).toHaveLength(1);
    expect((await read('activated', [...moments, '0'])).problems).toHaveLength(1);
    expect((await read('activated', moments)).problems).toEqual([]);
  });
});

const READ: readonly Column[] = [
  ...[
    ['Marketing-Kontakt-Status', 'Marketing-Kontakt', 'Nicht-Marketing-Kontakt'],
    ['Status des Marketing-Kontakts', 'Marketing-Kontakt', 'Nicht-Marketing-Kontakt'],
    ['Statut du contact marketing', 'Contact marketing', 'Contact non marketing'],
    ['Estado del contacto de marketing', 'Contacto de marketing', 'Contacto no de marketing'],
    ['Estado de contacto de marketing', 'Contacto de marketing', 'Contacto que no es de marketing'],
    ['Stato contatto marketing', 'Contatto di marketing', 'Contatto non di marketing'],
    ['Status marketingcontact', 'Marketingcontact', 'Niet-marketingcontact'],
    ['Status do contato de marketing', 'Contato de marketing', 'Contato que não é de marketing'],
  ].map(([header = '', fine = '', out = '']) => column(header, [fine], [out])),
  column('undeliverability_date', [''], ['2024-01-02']),
  column('undeliverability_reason', [''], ['mailbox is gone']),
  column('Hard Bounceback?', ['No'], ['Yes']),
  column('Can Contact?', ['true', '1'], ['false', '0']),
  column('Requests no email', ['No'], ['Yes']),
  column('Mailversand', ['ja'], ['nein']),
  column('Werbung erlaubt', ['ja'], ['nein']),
  column('Kontakterlaubnis', ['ja'], ['nein']),
  column('Email Suppressions', ['[]', ''], ['["UNSUBSCRIBED"]']),
  ...sameCells(
    ['nein', '0'],
    ['ja', '1'],
    'Robinsonliste, Sperrliste, Schwarze Liste, Liste noire, Liste rouge, Lista negra, Werbeverbot, Keine Werbung, Kein Mailversand',
  ),
];

describe('a column of consent in another language or form is read', () => {
  for (const { header, fine, out } of READ)
    test(`${header}: ${out.join(', ')}`, async () => {
      const { problems, statuses } = await read(header, [...fine, ...out]);
      expect(problems).toEqual([]);
      expect(statuses.slice(0, fine.length)).toEqual(fine.map(() => 'subscribed'));
      for (const status of statuses.slice(fine.length)) expect(status).not.toBe('subscribed');
    });
});

const OTHERS: readonly (readonly [header: string, ...cells: string[]])[] = [
  ['Last active', '2024-01-02', ''],
  ['Active campaigns', '2', '0'],
  ...(
    ['Activation date', 'activated_at', 'Active since', 'Valid from', 'Valid since', 'Accepted date'] as const
  ).map((header) => [header, '2024-01-02', ''] as const),
  ['Verified By', 'Ann', ''],
  ['Verified by user', 'Ann', ''],
  ['Accepted by', 'Ann', ''],
  ['Active', '5', '9', '0', '1', ''],
  ['Closed Date', '2024-01-02', ''],
  ['Closed', 'Open', 'Sunday', 'yes'],
  ['Blocked', 'Unblocked'],
  ['Suspended', 'Not suspended', 'not-suspended'],
  ['Hidden', 'visible', 'no'],
  ['Hold', '5 cm', '0'],
  ['Mail Stop', 'MS 12', 'A-3'],
  ['archive', '2023-1', '2023-2'],
  ['left', '3', '2', '1'],
  ['Seat type', 'left', 'right'],
  ['Engine Type', 'on hold'],
  ['State of origin', 'Left'],
  ['Employment Status', 'Left', 'active'],
  ['Type of disability', 'disabled'],
  ['Visa Status', 'Pending', 'granted'],
  ['Vaccination status', 'pending'],
  ['Plan type', 'cancelled', 'free'],
  ['State', 'open', 'closed'],
  ['Type', 'Removal', 'Archive'],
  ['Expired', 'yes', 'no'],
  ['Active customer', 'yes', 'no'],
  ['Membership cancelled', 'yes', 'no'],
  ['Stop', 'Berlin Hbf', 'Hamburg'],
  ['Archive', 'box 3', 'box 4'],
  ['Left eye', '1', '2'],
  ['Account', 'Acme', 'Foo'],
  ['Account status', 'disabled', 'enabled'],
  ['Type', 'none', 'customer'],
  ['Lead-Status', 'offen', 'in Arbeit'],
  ['Membership', 'Gold', 'expired'],
  ['Phone verified', 'yes', 'no'],
  ['Valid until', '2027-01-02', ''],
  ['Closed deals', '1', '0'],
  ['Werbung', 'Plakat', 'Radio'],
  ['Robinson Club', 'yes', 'no'],
  ['Subscriber ID', '1', '2'],
  ['Email opens', '1', '0'],
  ['Email format', 'html', 'text'],
  ['Preferences', '{"color":"red"}', '{"size":4}'],
];
describe('a column about something else goes on to be a property', () => {
  for (const [header, ...cells] of OTHERS)
    test(`${header}: ${cells.join(', ')}`, async () => {
      expect(await read(header, cells)).toEqual({ problems: [], statuses: cells.map(() => 'subscribed') });
    });
});

test.each([
  ['Deleted subscribers.csv', 'not subscribed'],
  ['inactive-contacts-2026-01-02.csv', 'not subscribed'],
  ['held.csv', 'not subscribed'],
  ['notcon.csv', 'not subscribed'],
  ['Unconfirmed_list_export.csv', 'not subscribed'],
  ['subscribers.csv', 'subscribed'],
  ['Held 2024.csv', 'not subscribed'],
  ['ActiveCampaign inactive contacts.csv', 'not subscribed'],
  ['Acme deleted email contacts soft bounces.csv', 'not subscribed'],
  ['unsubscribed inactive members.csv', 'unsubscribed'],
  ['archived_contacts_unsubscribed.csv', 'unsubscribed'],
  ['abgemeldet_inaktive_kontakte.csv', 'unsubscribed'],
  ['suppression list archived.csv', 'unsubscribed'],
  ['deleted contacts bounced.csv', 'bounced'],
  ['spam complaints archived list.csv', 'complained'],
  ['disabled-newsletter.csv', 'subscribed'],
  ['Kontakte Held.csv', 'subscribed'],
  ['contacts-held-gmbh.csv', 'subscribed'],
  ['Suspended Coffee members.csv', 'subscribed'],
  ['Junk Food list.csv', 'subscribed'],
  ['reactivate inactive contacts.csv', 'subscribed'],
  ['active and inactive contacts.csv', 'subscribed'],
  ['disabled-people-network-members.csv', 'subscribed'],
  ['inactive customers of the shop.csv', 'subscribed'],
  ['archived-orders.csv', 'subscribed'],
])('the people in a file named %s are %s', async (filename, status) => {
  const file = await readContactFile('email\na@x.example\n', { filename });
  expect(statusesOf(file)).toEqual({ 'a@x.example': status });
});
