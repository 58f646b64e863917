import { type Static, Type } from '@sinclair/typebox';
import { sortQuery } from '../../../http/lists/list.ts';
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
    '`failed`: rows were wrong and `onError=abort` was asked for, so nothing was written; or the file was lost. `cancelled`: earlier rows stay written.',
});

const Encoding = literals(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'], {
  description: 'The recognised encoding of the file.',
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

export const ContactImport = Type.Object(
  {
    id: Type.String({ examples: ['imp_01m7xj1rwzprnwr10308attx'] }),
    livemode: Type.Boolean({ description: 'False for an import of the test environment.' }),
    status: Status,
    failureReason: nullable(
      Type.String({ enum: ['rows_refused', 'file_lost'] }),
      'The reason of a failure; null without one.',
    ),
    counts: Type.Object(
      {
        total: count('Processed rows; empty ones are not counted.'),
        created: count('Rows that add a contact.'),
        updated: count('Rows that change a contact, which an earlier row of the file may have added.'),
        skipped: count(
          'Rows that changed nothing, or only recorded that a person has left: `onConflict=skip`, or an abort.',
        ),
        failed: count('Refused rows.'),
      },
      {
        description:
          'Each row counts in `total` and in exactly one other member. A dry run counts what an import would do.',
      },
    ),
    consent: Type.Object(
      {
        lowered: count(
          'Existing contacts whose status the file lowers: unsubscribed, bounced or complained.',
        ),
        keptOut: count(
          'Contacts that the file would subscribe, but that have left before and stay unsubscribed.',
        ),
        addedOut: count(
          'New contacts that are not subscribed, because the file says so or does not say that they agreed.',
        ),
      },
      {
        description: 'The effect of the file on consent. An import lowers a status, and never raises one.',
      },
    ),
    warnings: Type.Array(ImportWarning, {
      description:
        'Warnings about the file, already in the first answer, before anything is written; at most 20.',
    }),
    errors: Type.Array(ImportFault, {
      description: 'The first 100 errors; all of them are at `/errors`.',
    }),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'The processed part of the file.' }),
    onConflict: literals(['upsert', 'skip']),
    onError: literals(['continue', 'abort']),
    dryRun: Type.Boolean(),
    triggerFlows: Type.Boolean(),
    audienceId: nullable(Type.String(), 'The audience that its contacts join; null without one.'),
    encoding: Encoding,
    delimiter: Type.String({ description: 'The recognised separator of its cells.' }),
    columns: Type.Array(
      Type.Object({
        header: Type.String(),
        target: nullable(Type.String(), 'As `columns` writes it; null for a column that is left out.'),
      }),
      { description: 'The target of each column.' },
    ),
    bytes: count('The size of the file, in UTF-8 where it was UTF-16.'),
    createdAt: Moment,
    startedAt: nullable(Moment, 'When its first row was read; null before.'),
    endedAt: nullable(Moment, 'When it was completed, failed or cancelled; null before.'),
  },
  { title: 'ContactImport' },
);

export type ImportView = Static<typeof ContactImport>;

/** The answer of POST /v1/contacts/import. */
export const StartedImport = Type.Object(
  {
    id: Type.String(),
    status: Status,
    warnings: Type.Optional(
      Type.Array(ImportWarning, {
        description: 'Warnings about the file; absent when there are none.',
      }),
    ),
  },
  { title: 'StartedContactImport' },
);

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
        'A static audience without confirmation, to which the contacts of the file are added, but for people who have left it.',
    }),
  ),
  onConflict: literals(['upsert', 'skip'], {
    default: 'upsert',
    description:
      'For an address that is a contact already, or is repeated in the file: `upsert` merges its non-empty cells into the contact, `skip` leaves the contact unchanged. In either case, a person who has left stays unsubscribed.',
  }),
  onError: literals(['continue', 'abort'], {
    default: 'continue',
    description: '`abort` checks the whole file first and writes nothing at all when any row is wrong.',
  }),
  dryRun: Type.Boolean({ default: false, description: 'True counts and reports, and writes nothing.' }),
  triggerFlows: Type.Boolean({
    default: false,
    description: 'True lets the contacts start flows, like contacts that are added one by one.',
  }),
  columns: Type.Optional(
    Type.String({
      maxLength: 65_536,
      description: `A JSON object, percent-encoded, that maps columns to targets: \`{"E-Mail": "email", "Age": "properties.age:number", "Notes": null}\`. Targets are ${['email', ...FIELD_COLUMNS].join(', ')}; status, subscribed, unsubscribed, bounced and complained, of which the last four take yes and no; unsubscribedAt, consent.source, consent.at; audiences; and properties.<key> with a type (string, number, boolean, date; string without one), numbers and dates with the form in which they are written where the column leaves it open (number:point, number:comma, date:dmy, date:mdy). null leaves a column out. Columns that it does not name are recognised by their names and cells, or become properties.`,
      examples: ['{"E-Mail": "email", "Age": "properties.age:number"}'],
    }),
  ),
  filename: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'The name of the file. Some services mark a list of unsubscribed people by it alone.',
      examples: ['unsubscribed_members_export_1.csv'],
    }),
  ),
});

export type ImportQuery = Static<typeof ImportQuery>;

/** The query of POST /v1/contacts/import/plan. */
export const PlanQuery = Type.Object({
  ...Type.Pick(ImportQuery, ['columns', 'filename']).properties,
  partial: Type.Boolean({
    default: false,
    description: 'True when the body is the beginning of a longer file; its last, incomplete row is ignored.',
  }),
});

export type PlanQuery = Static<typeof PlanQuery>;

/** The plan of a file. */
export const ImportPlanView = Type.Object(
  {
    encoding: Encoding,
    delimiter: Type.String({ description: 'The recognised separator of its cells.' }),
    columns: Type.Array(
      Type.Object({
        header: Type.String(),
        target: nullable(Type.String(), 'As `columns` writes it; null for a column that is left out.'),
        cells: Type.Array(Type.String(), {
          description: 'Examples from its first rows, without empty cells.',
        }),
      }),
    ),
    warnings: Type.Array(ImportWarning),
    problems: Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'The reasons for which an import would be refused with 422; set the targets in `columns`.',
    }),
  },
  { title: 'ContactImportPlan' },
);

export type PlanView = Static<typeof ImportPlanView>;

export const ImportListQuery = Type.Object({
  ...pageQuery,
  ...sortQuery(),
  status: Type.Optional(Status),
});

export type ImportListQuery = Static<typeof ImportListQuery>;
