import { type Static, Type } from '@sinclair/typebox';
import { pageQuery } from '../../../http/lists/pagination.ts';
import { literals } from '../../../http/request/schema.ts';
import { FIELD_COLUMNS } from '../field-columns.ts';
import { FAULT_CODES } from './file/faults.ts';
import type { StoredFile } from './file/stored-file.ts';

/** Bytes of a file. */
export const LARGEST_FILE = 52_428_800;

const nullable = <T extends ReturnType<typeof Type.String>>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const Moment = Type.String({ format: 'date-time' });

/** The states of an import as clients see them. */
export const IMPORT_STATUSES = ['queued', 'processing', 'completed', 'failed', 'cancelled'] as const;
const Status = literals(IMPORT_STATUSES, {
  description:
    '`failed`: rows were wrong and `onError=abort` was asked for, so nothing was written; or the file was lost. `cancelled` keeps what was written before.',
});

const Encoding = literals(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'], {
  description: 'What the bytes of the file were found to be.',
});

/** A mistake in the file. */
const ImportFault = Type.Object(
  {
    line: Type.Integer({ description: 'The physical line of the file, from 1: the header is on line 1.' }),
    column: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The number of the cell in its row, from 1; null where the whole row is wrong.',
    }),
    code: literals(FAULT_CODES, { description: 'For programs.' }),
    message: Type.String({ description: 'For people; begins with the name of the column.' }),
  },
  { title: 'ContactImportError' },
);

/** A question about the file. */
export const ImportWarning = Type.Object(
  {
    column: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The number of the column, from 1; null where the whole file is meant.',
    }),
    header: nullable(Type.String(), 'Its name; null where the whole file is meant.'),
    message: Type.String({ description: 'For people.' }),
  },
  { title: 'ContactImportWarning' },
);

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** An import of contacts. */
export const ContactImport = Type.Object(
  {
    id: Type.String({ examples: ['imp_01m7xj1rwzprnwr10308attx'] }),
    livemode: Type.Boolean({ description: 'False for an import of the test environment.' }),
    status: Status,
    failureReason: nullable(
      Type.String({ enum: ['rows_refused', 'file_lost'] }),
      'Why it failed; null unless it did.',
    ),
    counts: Type.Object(
      {
        total: count('Rows that were worked through; empty ones are passed over.'),
        created: count('Contacts that are new.'),
        updated: count('Contacts that were there and were changed.'),
        skipped: count(
          'Rows of which nothing was taken but that a person has left: `onConflict=skip`, or an abort.',
        ),
        failed: count('Rows that were refused.'),
      },
      {
        description:
          'A row is in exactly one of the four behind `total`. In a dry run, what would become of them.',
      },
    ),
    consent: Type.Object(
      {
        lowered: count(
          'Contacts that were there and that the file takes down: they unsubscribed, bounced or complained.',
        ),
        keptOut: count(
          'Contacts that the file would have subscribed and that stay out, since they have left before.',
        ),
        addedOut: count(
          'New contacts that are not subscribed, since the file says so, or does not say that they agreed.',
        ),
      },
      {
        description:
          'What the file says of who may be written to. An import lowers a status, and never raises one.',
      },
    ),
    warnings: Type.Array(ImportWarning, {
      description:
        'What has to be known of the file, from the first answer on and before anything is written; at most 20.',
    }),
    errors: Type.Array(ImportFault, {
      description: 'The first 100 mistakes; all of them are at `/errors`.',
    }),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'How much of the file is worked through.' }),
    onConflict: literals(['upsert', 'skip']),
    onError: literals(['continue', 'abort']),
    dryRun: Type.Boolean(),
    triggerFlows: Type.Boolean(),
    audienceId: nullable(Type.String(), 'The audience that its contacts join; null without one.'),
    encoding: Encoding,
    delimiter: Type.String({ description: 'What its cells were found to be separated by.' }),
    columns: Type.Array(
      Type.Object({
        header: Type.String(),
        target: nullable(Type.String(), 'As `columns` writes it; null for a column that is left out.'),
      }),
      { description: 'What becomes of each column.' },
    ),
    bytes: count('The size of the file, in UTF-8 where it was UTF-16.'),
    createdAt: Moment,
    startedAt: nullable(Moment, 'When its first row was read; null before.'),
    endedAt: nullable(Moment, 'When it was completed, failed or cancelled; null before.'),
  },
  { title: 'ContactImport' },
);

/** An import as it is answered. */
export type ImportView = Static<typeof ContactImport>;

/** The answer of POST /v1/contacts/import. */
export const StartedImport = Type.Object(
  {
    id: Type.String(),
    status: Status,
    warnings: Type.Optional(
      Type.Array(ImportWarning, {
        description: 'What has to be known of the file; missing when there is nothing.',
      }),
    ),
  },
  { title: 'StartedContactImport' },
);

/** The type of it. */
export type StartedImport = Static<typeof StartedImport>;

/** A file of contacts. The handler gets what was stored of it. */
export const ContactFile = Type.Unsafe<StoredFile>({
  type: 'string',
  description:
    'CSV: UTF-8 with or without a byte order mark, UTF-16, or Windows-1252; cells separated by comma, semicolon, tab or bar. The first row names the columns.',
});

/** The query of POST /v1/contacts/import. */
export const ImportQuery = Type.Object({
  audienceId: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'A static audience without confirmation, which the contacts of the file join; whoever has left it stays out.',
    }),
  ),
  onConflict: literals(['upsert', 'skip'], {
    default: 'upsert',
    description:
      'What becomes of an address that is a contact already, or comes again in the file: its cells that are not empty are merged into the contact, or the contact stays as it is. That the person has left counts in either case.',
  }),
  onError: literals(['continue', 'abort'], {
    default: 'continue',
    description: '`abort` checks the whole file first and writes nothing at all when any row is wrong.',
  }),
  dryRun: Type.Boolean({ default: false, description: 'Whether to count and tell only, and write nothing.' }),
  triggerFlows: Type.Boolean({
    default: false,
    description: 'Whether the contacts start flows, as those that are added one by one do.',
  }),
  columns: Type.Optional(
    Type.String({
      maxLength: 65_536,
      description: `A JSON object, percent-encoded, of what columns become: \`{"E-Mail": "email", "Age": "properties.age:number", "Notes": null}\`. Targets are ${['email', ...FIELD_COLUMNS].join(', ')}; status, subscribed, unsubscribed, bounced and complained, of which the last four take yes and no; unsubscribedAt, consent.source, consent.at; audiences; and properties.<key> with a type (string, number, boolean, date; string without one), numbers and dates with the form in which they are written where the column leaves it open (number:point, number:comma, date:dmy, date:mdy). null leaves a column out. Columns that it does not name are recognised by their names and cells, or become properties.`,
      examples: ['{"E-Mail": "email", "Age": "properties.age:number"}'],
    }),
  ),
  filename: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'The name of the file: some services say in it alone that everyone in it has left.',
      examples: ['unsubscribed_members_export_1.csv'],
    }),
  ),
});

/** The type of it. */
export type ImportQuery = Static<typeof ImportQuery>;

/** The query of POST /v1/contacts/import/plan. */
export const PlanQuery = Type.Object({
  ...Type.Pick(ImportQuery, ['columns', 'filename']).properties,
  partial: Type.Boolean({
    default: false,
    description:
      'Whether the body is the beginning of a longer file; a row that is cut off is not looked at.',
  }),
});

/** The type of it. */
export type PlanQuery = Static<typeof PlanQuery>;

/** The plan of a file. */
export const ImportPlanView = Type.Object(
  {
    encoding: Encoding,
    delimiter: Type.String({ description: 'What its cells were found to be separated by.' }),
    columns: Type.Array(
      Type.Object({
        header: Type.String(),
        target: nullable(Type.String(), 'As `columns` writes it; null for a column that is left out.'),
        cells: Type.Array(Type.String(), {
          description: 'What its first rows hold, where they hold anything.',
        }),
      }),
    ),
    warnings: Type.Array(ImportWarning),
    problems: Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'Why an import would be refused with 422; say in `columns` what the columns become.',
    }),
  },
  { title: 'ContactImportPlan' },
);

/** The type of it. */
export type PlanView = Static<typeof ImportPlanView>;

/** The query of the list. */
export const ImportListQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Status),
});

/** The type of it. */
export type ImportListQuery = Static<typeof ImportListQuery>;
