import type { RetentionDays } from '../../../engine/duties/retention.ts';
import { PERMISSIONS } from '../../../http/auth/permissions.ts';
import type { Tag } from '../../../http/module.ts';
import type { Route } from '../../../http/request/route.ts';
import introduction from '../texts/introduction.md' with { type: 'text' };
import { curlSample } from './code-samples.ts';
import { componentsOf } from './components.ts';
import type { OpenApiDocument, Operation } from './document.ts';
import { NamedSchemas } from './json-schema.ts';
import { codeGroupsOf, operationOf, templateOf } from './operation.ts';
import { tagsOf } from './tags.ts';
import { webhooksOf } from './webhooks.ts';

/** The version of the interface with the path prefix `/v1`, not the version of the program. */
export const INTERFACE_VERSION = '1.0.0';

const days = (number: number): string => (number === 1 ? '1 day' : `${number} days`);

/** The rules of all requests, with the permissions of keys. */
const descriptionFor = ({ retentionTestDays, retentionLiveDays }: RetentionDays): string =>
  introduction
    .replace('PERMISSIONS', () => {
      const rows = Object.entries(PERMISSIONS).map(([name, grants]) => `| \`${name}\` | ${grants} |`);
      return ['| Permission | Allows |', '| --- | --- |', ...rows].join('\n');
    })
    .replace('TEST_DAYS', days(retentionTestDays))
    .replace('LIVE_DAYS', days(retentionLiveDays))
    .trim();

/**
 * Makes the OpenAPI document of these routes. It is the same for the same routes, so that it can be
 * committed.
 */
export function openApiOf(
  routes: readonly Route[],
  tags: readonly Tag[],
  { baseUrl, ...kept }: { readonly baseUrl: string } & RetentionDays,
): OpenApiDocument {
  const documented = routes.filter(({ path }) => path.startsWith('/v1/') || path === '/health');
  const named = new NamedSchemas();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of documented) {
    const template = templateOf(route.path);
    const operation = operationOf(route, tags, named);
    const samples = [curlSample(route.method, template, baseUrl, operation)];
    paths[template] = {
      ...paths[template],
      [route.method.toLowerCase()]: { ...operation, 'x-codeSamples': samples },
    };
  }
  const webhooks = webhooksOf(named);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version: INTERFACE_VERSION,
      summary: 'Transactional email that you run yourself.',
      description: descriptionFor(kept),
    },
    servers: [{ url: baseUrl, description: 'This service' }],
    tags: tagsOf(
      documented.map(({ path }) => path),
      tags,
    ),
    security: [{ apiKey: [] }],
    paths,
    components: componentsOf(
      documented.flatMap(codeGroupsOf).map(([, codes]) => codes),
      named.all(),
      baseUrl,
    ),
    webhooks,
  };
}
