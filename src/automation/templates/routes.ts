import { Type } from '@sinclair/typebox';
import { answeredOnce } from '../../http/request/idempotent.ts';
import { type Route, route } from '../../http/request/route.ts';
import { EmailReceipt } from '../../sending/emails/queries.ts';
import {
  createTemplate,
  deleteTemplate,
  publishVersion,
  restoreVersion,
  type TemplateCommands,
  updateTemplateBy,
} from './commands.ts';
import { NEW_TEMPLATE, PREVIEW, TEMPLATE, TEMPLATE_ITEM, VALUES, VERSION, VERSION_ITEM } from './examples.ts';
import {
  ALIAS,
  CreateTemplate,
  Preview,
  PreviewBody,
  Template,
  TemplateItem,
  TemplateQuery,
  TemplateVersion,
  TemplateVersionItem,
  TestSendBody,
  UpdateTemplate,
  VersionBody,
  VersionQuery,
} from './model.ts';
import { listTemplates, listVersions, templateDetail, versionDetail } from './queries.ts';
import { type Previewer, previewTemplate } from './render/preview.ts';
import { type TestSender, testSend } from './render/test-send.ts';

/** The services and settings of the endpoints. */
export interface TemplateDeps extends TemplateCommands, Previewer, TestSender {
  /** Previews a minute and client address; 0 is no limit. */
  readonly previewsPerMinute: number;
}

const TEMPLATE_ID = { prefix: 'tpl', resource: 'template', alias: ALIAS } as const;

/** The endpoints of templates. */
export const templateRoutes = (deps: TemplateDeps): readonly Route[] => [
  route({
    method: 'POST',
    path: '/v1/templates',
    name: 'createTemplate',
    audit: { action: 'template.created' },
    permission: 'templates:write',
    summary: 'Create a template',
    description:
      'It belongs to the environment of the key. Its Liquid is read and rendered once: what does not parse, or can never be rendered, is 422 with line and column. The language is described at /docs/templates.',
    body: CreateTemplate,
    response: Template,
    status: 201,
    failures: ['CONFLICT'],
    example: { body: NEW_TEMPLATE, response: TEMPLATE },
    handle: (call) => createTemplate(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/templates',
    name: 'listTemplates',
    permission: 'templates:read',
    summary: 'List templates',
    description: "Newest first, without their bodies; those of the key's environment.",
    query: TemplateQuery,
    response: Type.Array(TemplateItem),
    status: 200,
    example: { response: [TEMPLATE_ITEM] },
    handle: (call) => listTemplates(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/templates/render-preview',
    name: 'previewTemplate',
    permission: 'templates:read',
    summary: 'Render a template without sending it',
    description:
      'A stored template by id or alias, or content that is stored nowhere, through the same code that renders emails: the parts come out byte for byte as they would be sent. Required variables may be missing here and are listed; a subject that sending would refuse for these variables, an empty one or one of more than 998 characters, is 422 here too. Has a limit of its own of 60 requests a minute and client address (`RATE_LIMIT_PREVIEW`).',
    body: PreviewBody,
    response: Preview,
    status: 200,
    failures: ['NOT_FOUND'],
    ipLimitPerMinute: 60,
    ipLimitSetting: deps.previewsPerMinute,
    example: { body: { templateId: NEW_TEMPLATE.alias, variables: VALUES }, response: PREVIEW },
    handle: (call) => answeredOnce(deps.database, call, () => previewTemplate(deps, call)),
  }),
  route({
    method: 'GET',
    path: '/v1/templates/:id',
    name: 'getTemplate',
    permission: 'templates:read',
    summary: 'Get a template',
    description: 'By id or alias, with the bodies of the version that is sent.',
    params: { id: TEMPLATE_ID },
    response: Template,
    status: 200,
    example: { response: TEMPLATE },
    handle: (call) => templateDetail(deps, call),
  }),
  route({
    method: 'PATCH',
    path: '/v1/templates/:id',
    name: 'updateTemplate',
    audit: { action: 'template.changed' },
    permission: 'templates:write',
    summary: 'Change a template',
    description:
      'What is left out stays; null takes it away. Changed content makes a new version, which is sent from now on, or with `draft` is kept aside until it is published; it builds on the present version, with `draft` on the newest. Emails that were accepted before stay as they are. Name and alias make no version.',
    params: { id: TEMPLATE_ID },
    body: UpdateTemplate,
    response: Template,
    status: 200,
    failures: ['CONFLICT'],
    example: {
      body: { subject: 'Your order {{ number }} is on its way', ifVersion: 1 },
      response: { ...TEMPLATE, subject: 'Your order {{ number }} is on its way', version: 2 },
    },
    handle: (call) => updateTemplateBy(deps, call),
  }),
  route({
    method: 'DELETE',
    path: '/v1/templates/:id',
    name: 'deleteTemplate',
    audit: { action: 'template.deleted' },
    permission: 'templates:write',
    summary: 'Delete a template',
    description:
      'With all its versions. 409 while a scheduled or running campaign or an active flow uses it. Emails that were made from it stay as they are.',
    params: { id: TEMPLATE_ID },
    response: Type.Null(),
    status: 204,
    failures: ['CONFLICT'],
    handle: (call) => deleteTemplate(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/templates/:id/versions',
    name: 'listTemplateVersions',
    permission: 'templates:read',
    summary: 'List the versions of a template',
    description: 'Newest first, without their bodies, drafts included.',
    params: { id: TEMPLATE_ID },
    query: VersionQuery,
    response: Type.Array(TemplateVersionItem),
    status: 200,
    example: { response: [VERSION_ITEM] },
    handle: (call) => listVersions(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/templates/:id/versions/:version',
    name: 'getTemplateVersion',
    permission: 'templates:read',
    summary: 'Get a version of a template',
    description:
      'A version never changes: what was sent with it can be read as it was, also after the template has moved on.',
    params: { id: TEMPLATE_ID, version: { text: 'The number of the version.' } },
    response: TemplateVersion,
    status: 200,
    failures: ['NOT_FOUND'],
    example: { response: VERSION },
    handle: (call) => versionDetail(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/templates/:id/publish',
    name: 'publishTemplate',
    audit: { action: 'template.published' },
    permission: 'templates:write',
    summary: 'Send a version of a template from now on',
    description:
      'Takes a draft, or any other version of the template, and sends it from then on. Emails that were accepted before keep the version they were accepted with.',
    params: { id: TEMPLATE_ID },
    body: VersionBody,
    response: Template,
    status: 200,
    failures: ['CONFLICT'],
    example: { body: { version: 2 }, response: { ...TEMPLATE, version: 2 } },
    handle: (call) => publishVersion(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/templates/:id/restore',
    name: 'restoreTemplate',
    audit: { action: 'template.restored' },
    permission: 'templates:write',
    summary: 'Go back to an earlier version of a template',
    description: 'Makes a new version that says what the earlier one said, and sends it from now on.',
    params: { id: TEMPLATE_ID },
    body: VersionBody,
    response: Template,
    status: 200,
    failures: ['CONFLICT'],
    example: { body: { version: 1 }, response: { ...TEMPLATE, version: 3 } },
    handle: (call) => restoreVersion(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/templates/:id/test-send',
    name: 'sendTemplateTest',
    permission: ['templates:write', 'emails:send'],
    testMode: 'refused',
    summary: 'Send a template to colleagues',
    description:
      'A real email to members of the workspace, or to addresses at its verified domains, and to nobody else (403). Its subject begins with `[Test] `. It is accepted like every other email and takes one unit of the quota. 409 where the template has no subject, or nobody says who sends it.',
    params: { id: TEMPLATE_ID },
    body: TestSendBody,
    response: EmailReceipt,
    status: 200,
    failures: ['CONFLICT', 'FORBIDDEN', 'QUOTA_EXCEEDED'],
    example: {
      body: { to: ['ada@acme.example'], variables: VALUES },
      response: {
        ...{ id: 'em_01m7xj1rwzprnwr10308attx', livemode: true, status: 'queued' as const },
        ...{ scheduledAt: null, createdAt: '2026-11-20T21:33:00.000Z' },
      },
    },
    handle: (call) => testSend(deps, call),
  }),
];
