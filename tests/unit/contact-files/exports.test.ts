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
      'Email,First Name,Seat,Email,First Name,Seat\na@x.example,Ann,A1,b@x.example,Bo,B2\n,,,c@x.example,Cy,C3\n',
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
      [4, 5, 6].map((column) => [
        column,
        `Column ${column - 3} has the same name: this one is read in rows where that one is empty.`,
      ]),
    );
    const again = await readContactFile('Email,Email\n,a@x.example\n', { columns: { Email: 'email' } });
    expect(again.batch.contacts.map(({ email }) => email)).toEqual(['a@x.example']);
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
      ...['MEMBER_RATING', 'LATITUDE', 'LONGITUDE', 'GMTOFF', 'DSTOFF', 'LAST_CHANGED', 'LEID', 'EUID'],
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
  ];
  for (const [header, cells, first, last] of CASES)
    test(`is read by ${header}`, async () => {
      const { batch, problems } = await readContactFile(`${header}\na@x.example,${cells}\n`);
      expect(problems).toEqual([]);
      expect(batch.contacts[0]).toMatchObject({ first_name: first, last_name: last });
    });

  test('leaves the field to the column that has it by columns', async () => {
    const { targets } = await readContactFile('email,Name,Rufname\na@x.example,Grace Hopper,Grace\n', {
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
});
