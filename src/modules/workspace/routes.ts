import { type TSchema, Type } from '@sinclair/typebox';
import { PLAN_NAMES } from '../../auth/plans.ts';
import type { Database } from '../../db/database.ts';
import { type Route, route } from '../../http/route.ts';
import { readWorkspace } from './queries.ts';

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const Workspace = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    defaultFrom: nullable(
      Type.String({ description: 'The sender of emails that name none; null where none is set.' }),
    ),
    defaultReplyTo: nullable(
      Type.String({ description: 'Where answers go to emails that do not say; null where none is set.' }),
    ),
    branding: Type.Object(
      {
        logoUrl: nullable(Type.String({ description: 'The picture at the top of emails.' })),
        colour: nullable(Type.String({ description: 'Such as `#0f766e`.' })),
        address: nullable(Type.String({ description: 'The postal address at the foot of emails.' })),
        website: nullable(Type.String()),
      },
      { description: 'How emails look; null where nothing is set.' },
    ),
    timeZone: Type.String({ description: 'The zone that days are counted in, by its IANA name.' }),
    plan: Type.Union(PLAN_NAMES.map((name) => Type.Literal(name))),
    limits: Type.Object({
      emailsPerMonth: nullable(Type.Integer({ description: 'Live emails a UTC month; null is no limit.' })),
      domains: nullable(Type.Integer({ description: 'Sending domains; null is no limit.' })),
    }),
    usage: Type.Object({
      periodStart: Type.String({ format: 'date-time' }),
      periodEnd: Type.String({ format: 'date-time' }),
      emailsSent: Type.Integer({
        description: 'Live emails accepted in this UTC month, cancelled ones given back.',
      }),
      testSendsToday: Type.Integer({ description: 'Test emails accepted on this UTC day.' }),
      domains: Type.Integer(),
    }),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Workspace' },
);

export interface WorkspaceDeps {
  readonly database: Database;
}

/** The endpoints of the workspace itself. */
export const workspaceRoutes = ({ database }: WorkspaceDeps): readonly Route[] => [
  route({
    method: 'GET',
    path: '/v1/workspace',
    name: 'getWorkspace',
    permission: 'any key',
    summary: 'Get the workspace, its plan and what is used of it',
    response: Workspace,
    status: 200,
    example: {
      response: {
        id: 'ws_000000000000000000000000',
        name: 'Workspace',
        defaultFrom: null,
        defaultReplyTo: null,
        branding: { logoUrl: null, colour: null, address: null, website: null },
        timeZone: 'UTC',
        plan: 'free',
        limits: { emailsPerMonth: 3_000, domains: 2 },
        usage: {
          periodStart: '2026-11-01T00:00:00.000Z',
          periodEnd: '2026-12-01T00:00:00.000Z',
          emailsSent: 120,
          testSendsToday: 4,
          domains: 1,
        },
        createdAt: '2026-11-20T21:33:00.000Z',
      },
    },
    handle: ({ caller, now }) => readWorkspace(database, caller, now),
  }),
];
