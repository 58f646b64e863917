import { Type } from '@sinclair/typebox';
import { CSV_TYPE } from '../../http/body/media-type.ts';
import { type Route, route } from '../../http/request/route.ts';
import { forgetSuppression, type SuppressionCommands, suppressAddress } from './commands.ts';
import { exportSuppressions, importSuppressions, SuppressionImport } from './csv.ts';
import { SuppressBody, Suppression, SuppressionQuery } from './model.ts';
import { listSuppressions, type SuppressionLister } from './queries.ts';

const EXAMPLE = {
  address: 'ada@example.com',
  reason: 'bounced' as const,
  emailId: 'em_01m7xj1rwzprnwr10308attx',
  createdAt: '2026-11-20T22:43:19.079Z',
};

/** The endpoints of suppressions. */
export const suppressionRoutes = (deps: SuppressionCommands & SuppressionLister): readonly Route[] => [
  route({
    method: 'GET',
    path: '/v1/suppressions',
    name: 'listSuppressions',
    permission: 'contacts:read',
    summary: 'List suppressed addresses',
    description:
      'Newest first. An address gets here when its server says that it does not exist, when its owner complains or unsubscribes, or by hand. Trouble on the way (a blocklist, a full mailbox, a server that is away) never puts a person here. Test mail is not affected, and a test key sees none.',
    query: SuppressionQuery,
    response: Type.Array(Suppression),
    status: 200,
    example: { response: [EXAMPLE] },
    handle: (call) => listSuppressions(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/suppressions',
    name: 'createSuppression',
    audit: { action: 'suppression.created' },
    permission: 'contacts:write',
    testMode: 'refused',
    summary: 'Suppress an address',
    description:
      'It gets no more live mail from this workspace. Suppressing it again changes nothing: the first reason stays.',
    body: SuppressBody,
    response: Suppression,
    status: 201,
    example: {
      body: { address: 'ada@example.com' },
      response: { ...EXAMPLE, reason: 'manual', emailId: null },
    },
    handle: (call) => suppressAddress(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/suppressions/import',
    name: 'createSuppressionsFromCsv',
    audit: { action: 'suppressions.imported' },
    permission: 'contacts:write',
    testMode: 'refused',
    summary: 'Suppress the addresses of a CSV file',
    description:
      'With a header: a column `address` or `email`, and `reason` if there is one (`manual` unless stated). The lists of Postmark, Mailchimp, SendGrid, Mailgun, Amazon SES and Brevo are taken as they are; a reason may be a sentence. At most 1 MiB, some 40,000 addresses; send longer lists in parts. A reason that is known stays, unless it is `unsubscribed`.',
    mediaTypes: [CSV_TYPE],
    body: Type.Unsafe<Uint8Array>({ type: 'string' }),
    response: SuppressionImport,
    status: 200,
    example: {
      response: {
        counts: { total: 2, added: 1, known: 0, failed: 1 },
        errors: [
          { line: 3, message: 'Must be an address such as user@example.com or Name <user@example.com>.' },
        ],
      },
    },
    handle: (call) => importSuppressions(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/suppressions/export',
    name: 'exportSuppressions',
    audit: { action: 'suppressions.exported' },
    permission: 'contacts:read',
    summary: 'Download all suppressions as CSV',
    description:
      'By address: address, reason and time, in a form that the import takes. Forgotten persons are left out, since only a hash of their addresses is known. Empty for a test key.',
    response: Type.String({ description: 'The file.' }),
    responseType: CSV_TYPE,
    status: 200,
    example: {
      response: 'address,reason,created_at\r\nada@example.com,bounced,2026-11-20T22:43:19.079Z\r\n',
    },
    handle: (call) => exportSuppressions(deps, call),
  }),
  route({
    method: 'DELETE',
    path: '/v1/suppressions/:address',
    name: 'deleteSuppression',
    audit: { action: 'suppression.deleted' },
    permission: 'contacts:write',
    testMode: 'refused',
    summary: 'Let mail reach an address again',
    description:
      'Where Amazon SES is a transport, its account-level list is told as well, again and again until it has heard. A contact that had left stays unsubscribed: only consent leads back.',
    params: { address: { text: 'The address, with its @ written as %40 or as it is.' } },
    response: Type.Null(),
    status: 204,
    handle: (call) => forgetSuppression(deps, call),
  }),
];
