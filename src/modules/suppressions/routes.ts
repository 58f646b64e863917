import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/route.ts';
import { forgetSuppression, type SuppressionCommands, suppressAddress } from './commands.ts';
import { SuppressBody, Suppression, SuppressionQuery } from './model.ts';
import { listSuppressions } from './queries.ts';

const EXAMPLE = {
  address: 'ada@example.com',
  reason: 'bounced' as const,
  emailId: 'em_01m7xj1rwzprnwr10308attx',
  createdAt: '2026-11-20T22:43:19.079Z',
};

/** The endpoints of suppressions. */
export const suppressionRoutes = (deps: SuppressionCommands): readonly Route[] => [
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
    method: 'DELETE',
    path: '/v1/suppressions/:address',
    name: 'deleteSuppression',
    permission: 'contacts:write',
    testMode: 'refused',
    summary: 'Let mail reach an address again',
    params: { address: { text: 'The address, with its @ written as %40 or as it is.' } },
    response: Type.Null(),
    status: 204,
    handle: (call) => forgetSuppression(deps, call),
  }),
];
