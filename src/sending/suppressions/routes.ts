import { Type } from '@sinclair/typebox';
import { CSV_TYPE } from '../../http/body/media-type.ts';
import { withCount } from '../../http/lists/count.ts';
import { type Call, type Route, route } from '../../http/request/route.ts';
import { forgetSuppression, type SuppressionCommands, suppressAddress } from './commands.ts';
import { exportSuppressions, importSuppressions, SuppressionImport } from './csv.ts';
import { SuppressBody, Suppression, SuppressionQuery } from './model.ts';
import {
  countSuppressions,
  listSuppressions,
  type SuppressionFilter,
  type SuppressionLister,
} from './queries.ts';

const EXAMPLE = {
  address: 'ada@example.com',
  reason: 'bounced' as const,
  emailId: 'em_01m7xj1rwzprnwr10308attx',
  createdAt: '2026-11-20T22:43:19.079Z',
  otherReasons: [],
};

export const suppressionRoutes = (deps: SuppressionCommands & SuppressionLister): readonly Route[] => [
  ...withCount(
    { name: 'countSuppressions', summary: 'Count suppressed addresses' },
    (call: Call<unknown, SuppressionFilter>) => countSuppressions(deps, call),
    [
      route('GET /v1/suppressions', {
        name: 'listSuppressions',
        permission: 'contacts:read',
        summary: 'List suppressed addresses',
        description:
          'Newest first, unless `sort` says otherwise. With `reason` one request searches at most 10,000 addresses: a page may then have fewer than `limit` although more follow. An address is suppressed when its server says that it does not exist, when its owner complains or unsubscribes, or manually. Temporary problems (a blocklist, a full mailbox, an unreachable server) never suppress an address. Test mail is not affected, and a test key gets an empty list.',
        query: SuppressionQuery,
        response: Type.Array(Suppression),
        example: { response: [EXAMPLE] },
        handle: (call) => listSuppressions(deps, call),
      }),
    ],
  ),
  route('POST /v1/suppressions', {
    name: 'createSuppression',
    audit: { action: 'suppression.created' },
    permission: 'contacts:write',
    testMode: 'refused',
    summary: 'Suppress an address',
    description:
      'The address gets no more live mail from this workspace. Suppressing it again changes no reason but `unsubscribed` and `complained`, which stay in `otherReasons`. Another act of the person is added there.',
    body: SuppressBody,
    response: Suppression,
    status: 201,
    example: {
      body: { address: 'ada@example.com' },
      response: { ...EXAMPLE, reason: 'manual', emailId: null },
    },
    handle: (call) => suppressAddress(deps, call),
  }),
  route('POST /v1/suppressions/import', {
    name: 'createSuppressionsFromCsv',
    audit: { action: 'suppressions.imported' },
    permission: 'contacts:write',
    testMode: 'refused',
    summary: 'Suppress the addresses of a CSV file',
    description:
      'The file needs a header with a column `address` or `email`; a column `reason` is optional (`manual` by default). Exports of Postmark, Mailchimp, SendGrid, Mailgun, Amazon SES and Brevo work unchanged; a reason may be a sentence. At most 1 MiB, some 40,000 addresses; send longer lists in parts. An existing reason stays, unless it is `unsubscribed`, or `complained` and the new one `manual`. Several lines may name one address: no complaint and no unsubscription is lost.',
    mediaTypes: [CSV_TYPE],
    body: Type.Unsafe<Uint8Array>({ type: 'string' }),
    response: SuppressionImport,
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
  route('GET /v1/suppressions/export', {
    name: 'exportSuppressions',
    audit: { action: 'suppressions.exported' },
    permission: 'contacts:read',
    summary: 'Download all suppressions as CSV',
    description:
      'Sorted by address: address, reason and time, in a format that the import accepts. Forgotten persons are left out, since only a hash of their addresses is stored. Empty for a test key.',
    response: Type.String({ description: 'The file.' }),
    responseType: CSV_TYPE,
    example: {
      response: 'address,reason,created_at\r\nada@example.com,bounced,2026-11-20T22:43:19.079Z\r\n',
    },
    handle: (call) => exportSuppressions(deps, call),
  }),
  route('DELETE /v1/suppressions/:address', {
    name: 'deleteSuppression',
    audit: { action: 'suppression.deleted' },
    permission: 'contacts:write',
    testMode: 'refused',
    failures: ['CONFLICT'],
    summary: 'Remove a suppression',
    description:
      'Mail reaches the address again, unless `otherReasons` names an act of the person: that becomes the reason, and a second request removes it. So it is where the person was forgotten after that act, and is known again. Of a forgotten person who is no contact again an unsubscription stays: 409 for that alone, and a complaint that is removed becomes one. Where Amazon SES is a transport, the address is also removed from its account-level suppression list, with retries. A contact keeps its status: while that is not `subscribed`, it gets no email with a way to unsubscribe, from no campaign and by no other way.',
    params: { address: { text: 'The address, with its @ written as %40 or as it is.' } },
    handle: (call) => forgetSuppression(deps, call),
  }),
];
