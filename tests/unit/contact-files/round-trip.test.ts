import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ImportedContact } from '../../../src/audience/contacts/imports/file/rows.ts';
import { ExportColumns, type ExportRow } from '../../../src/audience/contacts/lists/export.ts';
import type { PropertyValue } from '../../../src/audience/contacts/properties.ts';
import { CONTACT_STATUSES } from '../../../src/mail/list-files/consent-words.ts';
import { csvRow } from '../../../src/platform/csv/write.ts';
import { seenName } from '../../../src/platform/text/characters.ts';
import { CONTACT_FIELDS, eachField, fieldsOf } from '../../../src/platform/text/contact-fields.ts';
import { readContactFile } from '../../support/read-contact-file.ts';

const storable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
const text = fc
  .oneof(
    fc.string({ maxLength: 12 }),
    fc.string({ maxLength: 12, unit: 'binary' }),
    fc.stringMatching(/^['=+@\t\r\n",; -]{0,6}$/),
    fc.constantFrom(
      '',
      ' ',
      '007',
      '3',
      'true',
      '1.234',
      '2/1/2026',
      '31.12.2026',
      '{"a":1}',
      '-5',
      '=1+1',
      "'=x",
    ),
    fc.nat({ max: 400 }).map((lines) => 'line\n'.repeat(lines / 2)),
  )
  .filter((each) => storable(each) && each.length <= 1_000);
const name = fc.oneof(
  fc.constant(null),
  text.map((each) => seenName(each.slice(0, 150)) || null),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -9e15, max: 9e15 }).map((each) => each + 0),
  fc.maxSafeInteger(),
  fc.constantFrom(1.234, 0.001, 1e-7, -1.5, 123456789.123),
);
const value: fc.Arbitrary<PropertyValue> = fc.oneof(text, number, fc.boolean());
const key = fc.oneof(
  fc.constantFrom('seats', 'plan', 'status', 'email', 'constructor', 'Unsubscribed', 'newsletter', 'id'),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,8}$/),
);
const local = fc.stringMatching(/^[=+'a-z-][a-z0-9=+'-]{0,8}$/);
const moment = fc.date({ min: new Date(1), max: new Date('2026-11-01'), noInvalidDate: true });

const contact = (at: number): fc.Arbitrary<ExportRow> =>
  fc.record({
    id: fc.constant(`con_${at}`),
    email: local.map((each) => `${each}@c${at}.example`),
    ...eachField(() => name),
    properties: fc
      .dictionary(key, value, { maxKeys: 6 })
      .map((each) => Object.fromEntries(Object.entries(each))),
    status: fc.constantFrom(...CONTACT_STATUSES),
    createdAt: moment,
    unsubscribedAt: moment,
    consent: fc.oneof(
      fc.constant(null),
      fc.record({
        source: fc.constantFrom('Form', '=Fair', 'a, b'),
        at: moment.map((each) => each.toISOString()),
      }),
    ),
    audienceIds: fc.uniqueArray(fc.constantFrom('aud_1', 'aud_2', 'aud_3'), { maxLength: 3 }),
    leftAudiences: fc.constantFrom(null, { aud_1: '2026-11-30T08:00:00Z', aud_9: '2026-11-30T08:00:00Z' }),
  });
const contacts = fc
  .integer({ min: 1, max: 6 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => contact(at))))
  .map((rows) => rows.map((row) => (row.status === 'subscribed' ? { ...row, unsubscribedAt: null } : row)));

const AUDIENCES = new Map([
  ['aud_1', 'Readers'],
  ['aud_2', '=Odd; "name"'],
]);

/** The file of an export. */
function fileOf(rows: readonly ExportRow[]): string {
  const columns = new ExportColumns();
  for (const { properties } of rows) columns.meet(properties);
  return `\ufeff${csvRow(columns.header)}${rows.map((row) => columns.text(row, AUDIENCES)).join('')}`;
}

const wanted = (row: ExportRow) => ({
  email: row.email,
  ...fieldsOf(row),
  properties: Object.entries(row.properties).sort(),
  status: row.status,
  leftAt: row.unsubscribedAt?.toISOString() ?? null,
  consent: row.consent,
  audiences: row.audienceIds.map((id) => AUDIENCES.get(id) ?? id),
});

const back = (each: ImportedContact): ReturnType<typeof wanted> => ({
  email: each.email,
  ...eachField((field) => each[CONTACT_FIELDS[field].column]),
  properties: Object.entries(each.properties).sort(),
  status: each.leaves ?? (each.begins_out ? 'not subscribed' : 'subscribed'),
  leftAt: each.left_at,
  consent: each.consent,
  audiences: each.joins?.map(({ audience_id }) => audience_id) ?? [],
});

describe('what an export says comes back by its import', () => {
  // A thousand sets, in parts that a busy machine reads in a few seconds each.
  for (let seed = 1; seed <= 10; seed++)
    test(`of 100 sets of arbitrary contacts, by the API and by the plan that the wizard sends (seed ${seed})`, async () => {
      await fc.assert(
        fc.asyncProperty(contacts, async (rows) => {
          const file = fileOf(rows);
          const byApi = await readContactFile(file);
          for (const read of [byApi, await readContactFile(file, { columns: byApi.targets })]) {
            expect([read.problems, read.plan.warnings, read.batch.faults]).toEqual([[], [], []]);
            expect(read.batch.contacts.map(back)).toEqual(rows.map(wanted));
          }
        }),
        { numRuns: 100, seed },
      );
    });

  test('of a contact whose texts fill more than a cell: it has several rows', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`p${at}`, `${at}"\n`.repeat(250).slice(0, 1_000)]),
    );
    const row: ExportRow = {
      id: 'con_1',
      email: 'long@example.com',
      ...eachField(() => null),
      status: 'bounced',
      createdAt: new Date(1),
      unsubscribedAt: null,
      consent: null,
      audienceIds: [],
      leftAudiences: null,
      properties,
    };
    const { batch } = await readContactFile(fileOf([row]));
    expect(batch.faults).toEqual([]);
    expect(batch.contacts[0]).toMatchObject({ properties, leaves: 'bounced' });
    expect(batch.contacts[0]?.repeats).toBeGreaterThan(1);
  });

  test('of an earlier version, whose columns have no types: the type that is there is kept', async () => {
    const file =
      'id,email,first_name,last_name,status,created_at,unsubscribed_at,properties.seats,properties.zip,properties\nx,a@example.com,,,subscribed,x,,3,007,\n';
    const { batch, targets } = await readContactFile(file, { typesThere: new Map([['seats', 'number']]) });
    expect(targets['properties.seats']).toBe('properties.seats:number');
    expect(batch.contacts[0]?.properties).toEqual({ seats: 3, zip: '007' });
    const wrong = await readContactFile(file.replace(',3,', ',many,'), {
      typesThere: new Map([['seats', 'number']]),
    });
    expect(wrong.batch.faults).toEqual([[2, 8, 'invalid_number']]);
  });
});
