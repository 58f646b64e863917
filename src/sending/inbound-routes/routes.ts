import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/request/route.ts';
import { createRoute, deleteRoute, patchRoute, type RouteCommands } from './commands.ts';
import {
  CreateInboundRoute,
  InboundRoute,
  InboundRouteQuery,
  InboundRouteWithSecret,
  MOST_ROUTES,
  PatchInboundRoute,
} from './model.ts';
import { listRoutes, routeDetail } from './queries.ts';

const ROUTE_ID = { prefix: 'inr', resource: 'inbound route' } as const;

const EXAMPLE = {
  id: 'inr_01m7xj1rwzprnwr10308attx',
  livemode: true,
  domainId: 'dom_01m7xj1rwzprnwr10308attx',
  match: { type: 'exact' as const, localPart: 'support' },
  priority: 100,
  action: { type: 'webhook' as const, url: 'https://example.com/hooks/inbound', to: null },
  spam: 'mark' as const,
  secretPrefix: 'whsec_k5cN…',
  createdAt: '2026-11-20T21:33:00.000Z',
  updatedAt: '2026-11-20T21:33:00.000Z',
};

export const inboundRouteRoutes = (deps: RouteCommands): readonly Route[] => [
  route('POST /v1/inbound-routes', {
    name: 'createInboundRoute',
    audit: { action: 'inboundRoute.created' },
    permission: 'domains:write',
    summary: 'Create an inbound route',
    description: `Mail to the addresses that it takes is stored, and posted to your server where its action is \`webhook\`, or sent on where it is \`forward\`. A live route receives by SMTP (INBOUND_SMTP_PORT) once its domain is verified; a test route receives what \`POST /v1/received/test\` is given. At most ${MOST_ROUTES} an environment. The secret of a webhook is shown by this reply only.`,
    body: CreateInboundRoute,
    response: InboundRouteWithSecret,
    status: 201,
    failures: ['NOT_FOUND', 'QUOTA_EXCEEDED'],
    example: {
      body: {
        domainId: EXAMPLE.domainId,
        match: EXAMPLE.match,
        action: { type: 'keep' },
      },
      response: {
        ...EXAMPLE,
        action: { type: 'keep', url: null, to: null },
        secretPrefix: null,
        secret: null,
      },
    },
    handle: (call) => createRoute(deps, call),
  }),
  route('GET /v1/inbound-routes', {
    name: 'listInboundRoutes',
    permission: 'domains:read',
    summary: 'List inbound routes',
    description: "Newest first; those of the key's environment.",
    query: InboundRouteQuery,
    response: Type.Array(InboundRoute),
    example: { response: [EXAMPLE] },
    handle: (call) => listRoutes(deps, call),
  }),
  route('GET /v1/inbound-routes/:id', {
    name: 'getInboundRoute',
    permission: 'domains:read',
    summary: 'Get an inbound route',
    description: 'Its match, its priority and its action. The secret of its webhook is never shown again.',
    params: { id: ROUTE_ID },
    response: InboundRoute,
    example: { response: EXAMPLE },
    handle: (call) => routeDetail(deps, call),
  }),
  route('PATCH /v1/inbound-routes/:id', {
    name: 'updateInboundRoute',
    audit: { action: 'inboundRoute.changed' },
    permission: 'domains:write',
    summary: 'Change an inbound route',
    description:
      'Members that are left out stay as they are; `match` and `action` are replaced as a whole. Mail that comes a second later, and retries of what is being posted, follow the change. A route that gets its first webhook gets a secret, which this reply shows.',
    params: { id: ROUTE_ID },
    body: PatchInboundRoute,
    response: InboundRouteWithSecret,
    failures: ['CONFLICT'],
    example: { body: { priority: 10 }, response: { ...EXAMPLE, priority: 10, secret: null } },
    handle: (call) => patchRoute(deps, call),
  }),
  route('DELETE /v1/inbound-routes/:id', {
    name: 'deleteInboundRoute',
    audit: { action: 'inboundRoute.deleted' },
    permission: 'domains:write',
    summary: 'Delete an inbound route',
    description:
      'A second later its addresses are unknown (550 5.1.1), unless another route takes them. Messages that it took stay; those that are still being posted end as `failed`.',
    params: { id: ROUTE_ID },
    handle: (call) => deleteRoute(deps, call),
  }),
];
