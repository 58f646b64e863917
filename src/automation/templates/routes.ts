import { Type } from '@sinclair/typebox';
import { answeredOnce } from '../../http/request/idempotent.ts';
import { type Route, route } from '../../http/request/route.ts';
import { CHECK_LIMITS, checkAnswer } from '../../sending/checks/api.ts';
import { EmailReceipt } from '../../sending/emails/queries.ts';
import {
  createTemplate,
  deleteTemplate,
  publishVersion,
  restoreVersion,
  type TemplateCommands,
  updateTemplateBy,
} from './commands.ts';
import {
  NEW_TEMPLATE,
  PREVIEW,
  TEMPLATE,
  TEMPLATE_ITEM,
  USER_UPDATES,
  VALUES,
  VERSION,
  VERSION_ITEM,
} from './examples.ts';
import { UpdateUsersBody, UserUpdates } from './layers/layer-model.ts';
import { updateUsers } from './layers/update-users.ts';
import {
  ALIAS,
  CheckQuery,
  CreateTemplate,
  Template,
  TemplateItem,
  TemplateQuery,
  TemplateVersion,
  TemplateVersionItem,
  UpdateTemplate,
  VersionBody,
  VersionQuery,
} from './model.ts';
import { listTemplates, listVersions, templateDetail, versionDetail } from './queries.ts';
import { checkTemplate, type TemplateChecker } from './render/check.ts';
import { type Previewer, previewTemplate } from './render/preview.ts';
import { Preview, PreviewBody, TestSendBody } from './render/preview-model.ts';
import { type TestSender, testSend } from './render/test-send.ts';

/** The services and settings of the endpoints. */
export interface TemplateDeps extends TemplateCommands, Previewer, TestSender, TemplateChecker {
  /** Previews a minute and client address; 0 is no limit. */
  readonly previewsPerMinute: number;
}

const TEMPLATE_ID = { prefix: 'tpl', resource: 'template', alias: ALIAS } as const;

export const templateRoutes = (deps: TemplateDeps): readonly Route[] => [
  route('POST /v1/templates', {
    name: 'createTemplate',
    audit: { action: 'template.created' },
    permission: 'templates:write',
    summary: 'Create a template',
    description:
      'It belongs to the environment of the key. Its Liquid is parsed and rendered once: a syntax error, or content that can never be rendered, is 422 with line and column. The language is described at /docs/templates.',
    body: CreateTemplate,
    response: Template,
    status: 201,
    failures: ['CONFLICT'],
    example: { body: NEW_TEMPLATE, response: TEMPLATE },
    handle: (call) => createTemplate(deps, call),
  }),
  route('GET /v1/templates', {
    name: 'listTemplates',
    permission: 'templates:read',
    summary: 'List templates',
    description:
      "Newest first, without their bodies; those of the key's environment. `kind` shows those of one kind.",
    query: TemplateQuery,
    response: Type.Array(TemplateItem),
    example: { response: [TEMPLATE_ITEM] },
    handle: (call) => listTemplates(deps, call),
  }),
  route('POST /v1/templates/render-preview', {
    name: 'previewTemplate',
    permission: 'templates:read',
    summary: 'Render a template without sending it',
    description:
      'Renders a stored template by ID or alias, or the content of the request, with the code that renders emails: the parts are byte for byte those that would be sent. Missing required variables are listed instead of refused. A subject that sending would refuse, an empty one or one of more than 998 characters, is 422 here too. It has a separate limit of 60 requests a minute and client address (`RATE_LIMIT_PREVIEW`).',
    body: PreviewBody,
    response: Preview,
    failures: ['NOT_FOUND'],
    ipLimitPerMinute: 60,
    ipLimitSetting: deps.previewsPerMinute,
    example: { body: { templateId: NEW_TEMPLATE.alias, variables: VALUES }, response: PREVIEW },
    handle: (call) => answeredOnce(deps.database, call, () => previewTemplate(deps, call)),
  }),
  route('GET /v1/templates/:id', {
    name: 'getTemplate',
    permission: 'templates:read',
    summary: 'Get a template',
    description: 'By ID or alias, with the bodies of the published version.',
    params: { id: TEMPLATE_ID },
    response: Template,
    example: { response: TEMPLATE },
    handle: (call) => templateDetail(deps, call),
  }),
  route('GET /v1/templates/:id/check', {
    name: 'checkTemplate',
    permission: 'templates:read',
    summary: 'Check a template before it is sent',
    description: `The published version or the one of \`version\`, rendered with sample values: links that do not answer, what mail programs leave out, size, dark mode and more, each with its line. The rules are at /docs/check-messages. ${CHECK_LIMITS}`,
    params: { id: TEMPLATE_ID },
    query: CheckQuery,
    ...checkAnswer(deps.previewsPerMinute),
    failures: ['NOT_FOUND'],
    handle: (call) => checkTemplate(deps, call),
  }),
  route('PATCH /v1/templates/:id', {
    name: 'updateTemplate',
    audit: { action: 'template.changed' },
    permission: 'templates:write',
    summary: 'Change a template',
    description:
      'Omitted members stay unchanged; null removes a value. Changed content makes a new version, which is published at once, or with `draft` stored as a draft. It builds on the published version, with `draft` on the newest. Emails that are already accepted do not change. A new name or alias makes no version.',
    params: { id: TEMPLATE_ID },
    body: UpdateTemplate,
    response: Template,
    failures: ['CONFLICT'],
    example: {
      body: { subject: 'Your order {{ number }} is on its way', ifVersion: 1 },
      response: { ...TEMPLATE, subject: 'Your order {{ number }} is on its way', version: 2 },
    },
    handle: (call) => updateTemplateBy(deps, call),
  }),
  route('DELETE /v1/templates/:id', {
    name: 'deleteTemplate',
    audit: { action: 'template.deleted' },
    permission: 'templates:write',
    summary: 'Delete a template',
    description:
      'Deletes all its versions. 409 while a scheduled or running campaign, an active flow, a run of one under way or another template uses it. Emails that are already accepted do not change.',
    params: { id: TEMPLATE_ID },
    failures: ['CONFLICT'],
    handle: (call) => deleteTemplate(deps, call),
  }),
  route('GET /v1/templates/:id/versions', {
    name: 'listTemplateVersions',
    permission: 'templates:read',
    summary: 'List the versions of a template',
    description: 'Newest first, without their bodies, drafts included.',
    params: { id: TEMPLATE_ID },
    query: VersionQuery,
    response: Type.Array(TemplateVersionItem),
    example: { response: [VERSION_ITEM] },
    handle: (call) => listVersions(deps, call),
  }),
  route('GET /v1/templates/:id/versions/:version', {
    name: 'getTemplateVersion',
    permission: 'templates:read',
    summary: 'Get a version of a template',
    description:
      'A version never changes: what was sent with it stays readable after later changes of the template.',
    params: { id: TEMPLATE_ID, version: { text: 'The number of the version.' } },
    response: TemplateVersion,
    failures: ['NOT_FOUND'],
    example: { response: VERSION },
    handle: (call) => versionDetail(deps, call),
  }),
  route('POST /v1/templates/:id/publish', {
    name: 'publishTemplate',
    audit: { action: 'template.published' },
    permission: 'templates:write',
    summary: 'Publish a version of a template',
    description:
      'Publishes a draft or any other version of the template. Emails that are already accepted keep their version.',
    params: { id: TEMPLATE_ID },
    body: VersionBody,
    response: Template,
    failures: ['CONFLICT'],
    example: { body: { version: 2 }, response: { ...TEMPLATE, version: 2 } },
    handle: (call) => publishVersion(deps, call),
  }),
  route('POST /v1/templates/:id/restore', {
    name: 'restoreTemplate',
    audit: { action: 'template.restored' },
    permission: 'templates:write',
    summary: 'Restore an earlier version of a template',
    description: 'Makes a new version with the content of the earlier one, and publishes it.',
    params: { id: TEMPLATE_ID },
    body: VersionBody,
    response: Template,
    failures: ['CONFLICT'],
    example: { body: { version: 1 }, response: { ...TEMPLATE, version: 3 } },
    handle: (call) => restoreVersion(deps, call),
  }),
  route('POST /v1/templates/:id/update-users', {
    name: 'updateTemplateUsers',
    audit: { action: 'template.usersUpdated' },
    permission: 'templates:write',
    summary: 'Update everything that uses a layout or partial',
    description:
      'A version of a template keeps the versions of its layouts and partials. This publishes a new version of each template, layout and partial whose published version uses this one, made of the versions that are published now: all of them or, where one cannot be made (422), none. `dryRun` tells what would change. 409 when more than 500 use it.',
    params: { id: TEMPLATE_ID },
    body: UpdateUsersBody,
    response: UserUpdates,
    failures: ['CONFLICT'],
    example: { body: { dryRun: true }, response: USER_UPDATES },
    handle: (call) => updateUsers(deps, call),
  }),
  route('POST /v1/templates/:id/test-send', {
    name: 'sendTemplateTest',
    permission: ['templates:write', 'emails:send'],
    testMode: 'refused',
    summary: 'Send a template to colleagues',
    description:
      'Sends a real email to members of the workspace, or to addresses at its verified domains; other addresses are 403. Its subject begins with `[Test] `, and its link to unsubscribe opens a page that says that it is a test. It is accepted like every other email and takes one unit of the quota. 409 when the template has no subject, or when neither template nor workspace has a sender.',
    params: { id: TEMPLATE_ID },
    body: TestSendBody,
    response: EmailReceipt,
    failures: ['CONFLICT', 'FORBIDDEN', 'QUOTA_EXCEEDED'],
    example: {
      body: { to: ['ada@acme.example'], variables: VALUES },
      response: {
        id: 'em_01m7xj1rwzprnwr10308attx',
        livemode: true,
        status: 'queued' as const,
        scheduledAt: null,
        createdAt: '2026-11-20T21:33:00.000Z',
      },
    },
    handle: (call) => testSend(deps, call),
  }),
];
