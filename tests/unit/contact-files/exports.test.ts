import { describe, expect, test } from 'bun:test';
import { readContactFile, statusesOf } from '../../support/read-contact-file.ts';

// Headers are those of real exports, as public repositories show them.

describe('columns with the same name', () => {
  test('of the unsubscribed of Mailchimp, which have a reason twice, take people down', async () => {
    const file = await readContactFile(
      'Email Address,UNSUB_REASON,UNSUB_TIME,UNSUB_REASON,UNSUB_REASON_OTHER\na@x.example,,2013-06-25 17:38:27,NORMAL,\n',
    );
    expect(file.problems).toEqual([]);
    expect(statusesOf(file)).toEqual({ 'a@x.example': 'unsubscribed' });
  });

  test('of an event service: the first that is not empty counts, and a warning says so', async () => {
    const file = await readContactFile(
      'Email,First Name,Seat,First Name,Seat\na@x.example,Ann,A1,Bo,B2\nc@x.example,,,Cy,C3\n',
    );
    expect(file.problems).toEqual([]);
    const contacts = file.batch.contacts.map(({ email, first_name, properties }) => [
      email,
      first_name,
      properties,
    ]);
    expect(contacts).toEqual([
      ['a@x.example', 'Ann', { Seat: 'A1' }],
      ['c@x.example', 'Cy', { Seat: 'C3' }],
    ]);
    expect(file.plan.warnings?.map(({ column, message }) => [column, message])).toEqual(
      [4, 5].map((column) => [
        column,
        `Column ${column - 2} has the same name: this one is read in rows where that one is empty.`,
      ]),
    );
  });

  test('with the source of a consent: the first that is not empty counts', async () => {
    const { batch, plan } = await readContactFile(
      'email,Consent source,Consent source\na@x.example,form,fair\nb@x.example,,fair\n',
    );
    expect(batch.contacts.map(({ consent }) => consent?.source)).toEqual(['form', 'fair']);
    expect(plan.warnings).toMatchObject([{ column: 3, message: expect.stringContaining('same name') }]);
  });

  // The leaving of the second person would be that of the first.
  for (const columns of [undefined, { Email: 'email' }])
    test(`with two addresses are refused${columns ? ', also where columns name them' : ''}`, async () => {
      const { problems } = await readContactFile(
        'Email,Status,Email,Status\na@x.example,subscribed,b@x.example,unsubscribed\n',
        columns && { columns },
      );
      expect(problems.map(({ message }) => message)).toEqual([
        'Columns 1 and 3 are both called "Email", and a row is about one person: leave one of them out of the file, or call it something else.',
      ]);
    });

  const CONSENT: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['Group', ['customer,unsubscribed', 'subscribed,subscribed'], ['unsubscribed', 'subscribed']],
    ['Group', ['unsubscribed,customer', 'subscribed,'], ['unsubscribed', 'subscribed']],
    ['Group', [',unsubscribed', ',subscribed', 'lead,subscribed'], ['unsubscribed', 'subscribed', 'refused']],
    ['Excluded from gifts', ['none,unsubscribed', ',yes', ','], ['unsubscribed', 'refused', 'subscribed']],
    ['Opt-in', ['yes,no', 'yes,', ','], ['unsubscribed', 'subscribed', 'not subscribed']],
    ['Email Status', [',bounced', 'valid,valid', 'active,active'], ['bounced', 'refused', 'subscribed']],
  ];
  for (const [header, cells, wanted] of CONSENT)
    test(`are all of consent where one is: ${header} with ${cells.join(' and ')}`, async () => {
      const rows = cells.map((both, at) => `p${at}@x.example,${both}\n`);
      const file = await readContactFile(`email,${header},${header}\n${rows.join('')}`);
      expect(file.problems).toEqual([]);
      const statuses = statusesOf(file);
      expect(cells.map((_, at) => statuses[`p${at}@x.example`] ?? 'refused')).toEqual([...wanted]);
    });

  test('say which cells are not understood, since one of them is of consent', async () => {
    const { plan } = await readContactFile(
      'email,Group,Group\na@x.example,customer,unsubscribed\nb@x.example,,subscribed\n',
    );
    expect(plan.warnings?.map(({ column, message }) => [column, message])).toEqual([
      [2, expect.stringContaining('1 of its cells is not understood, such as "customer"')],
      [2, expect.stringContaining('1 row has no value here')],
      [3, expect.stringContaining('1 row unsubscribed')],
    ]);
  });

  test('are refused where one is of consent, and another holds texts of any kind', async () => {
    const rows = Array.from(
      { length: 40 },
      (_, at) => `p${at}@x.example,text ${at},${at % 2 ? 'unsubscribed' : 'subscribed'}\n`,
    );
    const { problems } = await readContactFile(`email,Group,Group\n${rows.join('')}`);
    expect(problems).toEqual([
      {
        path: '/query/columns',
        message:
          'Columns 2 and 3 are both called "Group". One of them says who may be written to, and the other does not: give them different names, or say in columns what both become.',
      },
    ]);
  });
});

describe('an export of Mailchimp', () => {
  const HEADER =
    '"Email Address","First Name",MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,TIMEZONE,CC,REGION,LAST_CHANGED,LEID,EUID,NOTES,TAGS';
  const ROW =
    'a@x.example,Ann,2,,,"2018-10-11 09:55:14",192.0.2.1,47.66,-122.29,-8,-7,America/Los_Angeles,US,WA,"2018-10-11 09:55:14",90498395,810826c56e,,"""VIP"",""Blog, weekly"""';

  test('is read without the columns that mean something to Mailchimp alone', async () => {
    const { batch, targets, plan } = await readContactFile(`${HEADER}\n${ROW}\n`);
    expect(Object.keys(targets).filter((name) => targets[name] === null)).toEqual([
      'MEMBER_RATING',
      'LATITUDE',
      'LONGITUDE',
      'GMTOFF',
      'DSTOFF',
      'LAST_CHANGED',
      'LEID',
      'EUID',
    ]);
    expect(batch.contacts[0]).toMatchObject({
      properties: {
        timeZone: 'America/Los_Angeles',
        CC: 'US',
        REGION: 'WA',
        CONFIRM_IP: '192.0.2.1',
        TAGS: '"VIP","Blog, weekly"',
      },
      consent: { source: null, at: '2018-10-11T09:55:14.000Z' },
    });
    expect(plan.warnings).toEqual([]);
  });

  test('gives its tags to audiences where columns ask for it', async () => {
    const { audiences } = await readContactFile(`${HEADER}\n${ROW}\n`, { columns: { TAGS: 'audiences' } });
    expect(audiences).toEqual(['VIP', 'Blog, weekly']);
  });

  test('shows itself by its ids: a rating in another file is a property', async () => {
    const { targets } = await readContactFile('email,Member rating,Latitude\na@x.example,2,1.5\n');
    expect(targets).toMatchObject({
      'Member rating': 'properties.Member_rating:string',
      Latitude: 'properties.Latitude:string',
    });
  });
});

describe('what this service reads of a contact', () => {
  const CASES: Readonly<Record<string, string>> = {
    TIMEZONE: 'timeZone',
    'Time Zone': 'timeZone',
    timezone: 'timeZone',
    Zeitzone: 'timeZone',
    '*Language': 'language',
    locale: 'language',
    Sprache: 'language',
    Languages: 'Languages',
  };
  for (const [header, key] of Object.entries(CASES))
    test(`is ${key} behind ${header}`, async () => {
      const { batch } = await readContactFile(`email,${header}\na@x.example,de\n`);
      expect(batch.contacts[0]?.properties).toEqual({ [key]: 'de' });
    });

  test('keeps two columns apart, the first under the name that is read', async () => {
    const { batch, problems } = await readContactFile('email,Language,Locale\na@x.example,de,de_AT\n');
    expect(problems).toEqual([]);
    expect(batch.contacts[0]?.properties).toEqual({ language: 'de', Locale: 'de_AT' });
  });
});

describe('a whole name', () => {
  const CASES: readonly (readonly [string, string, string | null, string | null])[] = [
    ['email,name', 'Grace Hopper', 'Grace Hopper', null],
    ['email,Full Name', 'Grace Hopper', 'Grace Hopper', null],
    ['email,Vorname,Name', 'Grace,Hopper', 'Grace', 'Hopper'],
    ['email,Name,Last name', 'Grace,Hopper', 'Grace', 'Hopper'],
    ['email,First name,Last name,Name', 'Grace,Hopper,Grace Hopper', 'Grace', 'Hopper'],
    ['email,Full name,Name', 'Grace Hopper,G', 'Grace Hopper', null],
    ['email,First name,Name', 'Grace,Grace Hopper', 'Grace', null],
    ['email,First name,Name', 'Grace,"Hopper, Grace"', 'Grace', null],
    ['email,Name,Last name', 'Grace Hopper,Hopper', null, 'Hopper'],
  ];
  for (const [header, cells, first, last] of CASES)
    test(`is read by ${header}`, async () => {
      const { batch, problems } = await readContactFile(`${header}\na@x.example,${cells}\n`);
      expect(problems).toEqual([]);
      expect(batch.contacts[0]).toMatchObject({ first_name: first, last_name: last });
    });

  test('is a property where most rows have a part of it in another column', async () => {
    const rows = ['Ben,Ben Ali', 'Ann,Lee', 'Bo,Bond', 'Cy,'].map(
      (cells, at) => `p${at}@x.example,${cells}\n`,
    );
    const family = await readContactFile(`email,Vorname,Name\n${rows.join('')}`);
    expect(family.batch.contacts.map(({ last_name }) => last_name)).toEqual(['Ben Ali', 'Lee', 'Bond', null]);
    const whole = await readContactFile('email,First Name,Name\na@x.example,Ann,Ann Lee\n');
    expect(whole.batch.contacts.map(({ properties }) => properties)).toEqual([{ Name: 'Ann Lee' }]);
  });

  test('leaves the field to the column that has it by columns', async () => {
    const { targets } = await readContactFile('email,Name,Rufname\na@x.example,Hopper,Grace\n', {
      columns: { Rufname: 'first_name' },
    });
    expect(targets).toEqual({ email: 'email', Name: 'last_name', Rufname: 'first_name' });
  });

  test('before an address is one, where the row has no other', async () => {
    const { batch } = await readContactFile(
      'email,First name\nGrace Hopper <a@x.example>,\nG. <b@x.example>,Ada\n',
    );
    expect(batch.contacts.map(({ email, first_name }) => [email, first_name])).toEqual([
      ['a@x.example', 'Grace Hopper'],
      ['b@x.example', 'Ada'],
    ]);
    expect(batch.faults).toEqual([]);
  });

  test('before an address has at most 200 characters, as one in a cell', async () => {
    const { batch } = await readContactFile(
      `email,First name\n${'N'.repeat(201)} <a@x.example>,\n${'N'.repeat(200)} <b@x.example>,\n${'N'.repeat(201)} <c@x.example>,Cy\n`,
    );
    expect(batch.faults).toEqual([[2, 1, 'text_too_long']]);
    expect(batch.contacts.map(({ first_name }) => first_name?.length)).toEqual([200, 2]);
  });

  const MERGED: readonly (readonly [string, readonly string[], readonly (string | boolean | null)[]])[] = [
    ['one row', ['Grace Hopper <a@x.example>,,'], ['Grace Hopper', null, true]],
    ['a stated first name', ['G. <a@x.example>,,', 'a@x.example,Grace,'], ['Grace', null, false]],
    ['a stated last name', ['G. H. <a@x.example>,,', 'a@x.example,,Hopper'], [null, 'Hopper', false]],
    ['a stated name before it', ['a@x.example,Grace,', 'G. <a@x.example>,,'], ['Grace', null, false]],
    ['rows without one', ['a@x.example,,', 'G. <a@x.example>,,', 'a@x.example,,'], ['G.', null, true]],
    ['another one', ['G. <a@x.example>,,', 'H. <a@x.example>,,'], ['G.', null, true]],
  ];
  for (const [what, rows, wanted] of MERGED)
    test(`before an address gives way to a stated one: ${what}`, async () => {
      const { batch } = await readContactFile(`email,First name,Last name\n${rows.join('\n')}\n`);
      const merged = batch.contacts.map((each) => [
        each.first_name,
        each.last_name,
        each.fills_name ?? false,
      ]);
      expect(merged).toEqual([[...wanted]]);
    });
});

test('of several columns with a moment, the latest counts', async () => {
  const { batch } = await readContactFile(
    [
      'email,consent date,Opt-in time,Unsubscribed at,Opt-out date',
      'a@x.example,2024-01-01,2020-01-01,2025-01-01,2021-01-01',
      'b@x.example,2020-01-01,2024-01-01,2021-01-01,2025-01-01',
      'c@x.example,2024-01-01,soon,2025-01-01,yes\n',
    ].join('\n'),
  );
  expect(batch.contacts.map(({ consent, left_at }) => [consent?.at, left_at])).toEqual(
    Array.from({ length: 3 }, () => ['2024-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z']),
  );
});
