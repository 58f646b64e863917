import { Type } from '@sinclair/typebox';
import { RawResponse, type Route, route } from '../../http/request/route.ts';
import { notFound } from '../../platform/errors/failure.ts';
import { deleteLogo, findLogo, LARGEST_LOGO, MOST_PIXELS, putLogo } from './logo/store-logo.ts';
import { PatchWorkspace, Workspace, type WorkspaceView } from './model.ts';
import { LOGO_PATH, readWorkspace, type WorkspaceReader } from './queries.ts';
import { patchWorkspace, type SettingsDeps } from './settings.ts';

export interface WorkspaceDeps extends WorkspaceReader, SettingsDeps {}

const EXAMPLE: WorkspaceView = {
  id: 'ws_000000000000000000000000',
  name: 'Workspace',
  defaultFrom: null,
  defaultReplyTo: null,
  branding: { logoUrl: null, colour: null, fontFamily: null, address: null, website: null },
  timeZone: 'UTC',
  language: null,
  emailLanguage: 'en',
  serviceEmails: { invitation: true, domainLost: true, webhookDisabled: true, campaignPaused: true },
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
  updatedAt: '2026-11-20T21:33:00.000Z',
};

/** The endpoints of the workspace itself. Its settings are those of both environments. */
export const workspaceRoutes = (deps: WorkspaceDeps): readonly Route[] => [
  route('GET /v1/workspace', {
    name: 'getWorkspace',
    permission: 'any key',
    summary: 'Get the workspace, its plan and its usage',
    description: 'The settings, the brand, the limits of the plan, and the usage of the current period.',
    response: Workspace,
    example: { response: EXAMPLE },
    handle: ({ caller, now }) => readWorkspace(deps, caller, now),
  }),
  route('PATCH /v1/workspace', {
    name: 'updateWorkspace',
    audit: { action: 'workspace.changed', details: ({ body }) => ({ ...(body as object) }) },
    permission: 'workspace:write',
    summary: 'Change the settings of the workspace',
    description:
      'Changes only the fields in the body; null resets a field. Both environments share the settings, which take effect on the next request.',
    body: PatchWorkspace,
    response: Workspace,
    failures: ['CONFLICT'],
    example: {
      body: { name: 'Acme', timeZone: 'Europe/Vienna', branding: { colour: '#0f766e' } },
      response: {
        ...EXAMPLE,
        name: 'Acme',
        timeZone: 'Europe/Vienna',
        serviceEmails: { invitation: true, domainLost: true, webhookDisabled: true, campaignPaused: true },
        branding: { ...EXAMPLE.branding, colour: '#0f766e' },
      },
    },
    handle: async ({ caller, body, now }) =>
      (await patchWorkspace(deps, caller, body, now)) ?? (await readWorkspace(deps, caller, now)),
  }),
  route('PUT /v1/workspace/logo', {
    name: 'updateLogo',
    audit: { action: 'workspace.logoChanged' },
    permission: 'workspace:write',
    summary: 'Set the logo',
    description: `The body is a PNG or a JPEG, recognised by its content: at most 1 MiB and ${MOST_PIXELS.toLocaleString('en')} pixels per side, not animated, and without data after its end but for what cameras append, which is removed. Invisible data (Exif, comments, colour profiles) is removed. Each change gives the logo a new address; the ten earlier logos stay available, because emails show them.`,
    mediaTypes: ['image/png', 'image/jpeg'],
    body: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
    bodyLimit: LARGEST_LOGO,
    response: Workspace,
    failures: ['VALIDATION_ERROR'],
    example: { response: EXAMPLE },
    handle: async ({ caller, body, now }) =>
      (await putLogo(deps.database, caller, body, now)) ?? (await readWorkspace(deps, caller, now)),
  }),
  route('DELETE /v1/workspace/logo', {
    name: 'deleteLogo',
    audit: { action: 'workspace.logoRemoved' },
    permission: 'workspace:write',
    summary: 'Remove the logo',
    description:
      'Removes the earlier logos as well: emails that show them show no image. Without a logo, this is not an error.',
    handle: async ({ caller }) => {
      await deleteLogo(deps.database, caller);
      return null;
    },
  }),
];

/** Mail services fetch images for all their users from a few addresses. */
const PER_MINUTE = 12_000;
const A_YEAR = 31_536_000;

/** The public routes of logos. */
export const logoPages = ({ database }: WorkspaceDeps): readonly Route[] => [
  route(`GET ${LOGO_PATH}:file`, {
    permission: 'public',
    ipLimitPerMinute: PER_MINUTE,
    summary: 'Get a logo',
    params: { file: { text: 'The last part of logoUrl.' } },
    response: Type.Null(),
    handle: async ({ params }) => {
      const logo = await findLogo(database, params.file);
      if (!logo) return notFound('logo');
      return new RawResponse(logo.type, logo.content, {
        headers: {
          'cache-control': `public, max-age=${A_YEAR}, immutable`,
          'content-security-policy': "default-src 'none'; sandbox",
          'cross-origin-resource-policy': 'cross-origin',
        },
      });
    },
  }),
];
