import { Type } from '@sinclair/typebox';
import { CSV_TYPE } from '../../../http/body/media-type.ts';
import { type IdParam, type Route, route } from '../../../http/request/route.ts';
import { cancelImport, type ImportCommands, MOST_OPEN, receiveFile, startImport } from './commands.ts';
import {
  ContactFile,
  ContactImport,
  ImportListQuery,
  ImportPlanView,
  ImportQuery,
  type ImportView,
  LARGEST_FILE,
  PlanQuery,
  StartedImport,
} from './model.ts';
import { planImport } from './plan/sample.ts';
import { exportErrors, importDetail, listImports } from './queries.ts';

const id: IdParam = { prefix: 'imp', resource: 'contact import' };

const EXAMPLE: ImportView = {
  id: 'imp_01m7xj1rwzprnwr10308attx',
  livemode: true,
  status: 'completed',
  failureReason: null,
  counts: { total: 1_204, created: 1_100, updated: 103, skipped: 0, failed: 1 },
  consent: { lowered: 2, keptOut: 5, addedOut: 31 },
  warnings: [],
  errors: [
    {
      line: 17,
      column: 1,
      code: 'invalid_email',
      message: 'E-Mail: This is no address such as user@example.com.',
    },
  ],
  progress: 1,
  onConflict: 'upsert',
  onError: 'continue',
  dryRun: false,
  triggerFlows: false,
  audienceId: null,
  encoding: 'windows-1252',
  delimiter: ';',
  columns: [
    { header: 'E-Mail', target: 'email' },
    { header: 'Age', target: 'properties.age:number' },
  ],
  bytes: 61_004,
  createdAt: '2026-11-20T22:43:19.079Z',
  startedAt: '2026-11-20T22:43:19.112Z',
  endedAt: '2026-11-20T22:43:19.431Z',
};

export const importRoutes = (deps: ImportCommands): readonly Route[] => [
  route('POST /v1/contacts/import', {
    name: 'importContacts',
    audit: { action: 'contacts.imported' },
    permission: 'contacts:write',
    summary: 'Import contacts from a CSV file',
    description: `The file is stored before the answer, and processed afterwards: get the import by its ID. After a crash, an import continues, with no row lost or counted twice. A file may lower the status of a contact (unsubscribed, bounced or complained), and never raises it: people who have left, whose address is suppressed or who were erased are not subscribed. Consent columns of other services are recognised; a row whose consent is not understood is refused, and \`warnings\` in the answer say so. A file with a column that may be of consent and cannot be read for certain is refused (422) until \`columns\` says what it becomes. Empty cells change nothing. A cell that begins with an apostrophe before =, +, -, @, a tab or a line break loses the apostrophe, which the export adds. At most ${MOST_OPEN} imports of an environment wait or run at once (409). Imports are kept for as many days as emails.`,
    query: ImportQuery,
    body: ContactFile,
    mediaTypes: [CSV_TYPE],
    bodyLimit: LARGEST_FILE,
    response: StartedImport,
    status: 202,
    failures: ['CONFLICT', 'NOT_FOUND'],
    example: { response: { id: EXAMPLE.id, status: 'queued' } },
    receive: (pieces, receiving) => receiveFile(deps, pieces, receiving),
    handle: (call) => startImport(deps, call),
  }),
  route('POST /v1/contacts/import/plan', {
    name: 'planContactImport',
    permission: 'contacts:write',
    summary: 'Ask how a CSV file of contacts would be read',
    description:
      'Send the file, or its first MiB with `partial=true`. The answer has the encoding, the delimiter, the target of each column and the values that are not understood. Nothing is stored. A check of every row is an import with `dryRun=true`.',
    query: PlanQuery,
    body: Type.Unsafe<Uint8Array>({ type: 'string' }),
    mediaTypes: [CSV_TYPE],
    response: ImportPlanView,
    example: {
      response: {
        encoding: 'windows-1252',
        delimiter: ';',
        columns: [
          { header: 'E-Mail', target: 'email', cells: ['ada@example.com'] },
          { header: 'Status', target: 'status', cells: ['aktiv'] },
        ],
        warnings: [],
        problems: [],
      },
    },
    handle: (call) => planImport(deps, call),
  }),
  route('GET /v1/contacts/imports', {
    name: 'listContactImports',
    permission: 'contacts:read',
    summary: 'List imports of contacts',
    description:
      'Newest first, each with its progress and its numbers of created, updated, skipped and refused rows.',
    query: ImportListQuery,
    response: Type.Array(ContactImport),
    example: { response: [EXAMPLE] },
    handle: (call) => listImports(deps, call),
  }),
  route('GET /v1/contacts/imports/:id', {
    name: 'getContactImport',
    permission: 'contacts:read',
    summary: 'Get an import of contacts',
    description:
      'Its progress and its numbers of created, updated, skipped and refused rows. After a crash, it continues where it was.',
    params: { id },
    response: ContactImport,
    example: { response: EXAMPLE },
    handle: (call) => importDetail(deps, call),
  }),
  route('GET /v1/contacts/imports/:id/errors', {
    name: 'listContactImportErrors',
    permission: 'contacts:read',
    summary: 'Download all errors of an import',
    description: 'CSV with the columns line, column, code and message, in the order of the file.',
    params: { id },
    response: Type.String({ description: 'The file.' }),
    responseType: CSV_TYPE,
    example: { response: 'line,column,code,message\r\n17,1,invalid_email,E-Mail: …\r\n' },
    handle: (call) => exportErrors(deps, call),
  }),
  route('POST /v1/contacts/imports/:id/cancel', {
    name: 'cancelContactImport',
    permission: 'contacts:write',
    summary: 'Cancel an import of contacts',
    description:
      'Rows that are written stay. Cancelling a cancelled import again is 200; a completed or failed one is 409.',
    params: { id },
    response: ContactImport,
    failures: ['CONFLICT'],
    example: { response: { ...EXAMPLE, status: 'cancelled', progress: 0.4 } },
    handle: (call) => cancelImport(deps, call),
  }),
];
