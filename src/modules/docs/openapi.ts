import type { Route } from '../../http/route.ts';
import { componentsOf } from './components.ts';
import type { OpenApiDocument, Operation } from './document.ts';
import { codeGroupsOf, operationOf, templateOf } from './operation.ts';
import { tagsOf } from './tags.ts';

/** The version of the interface, which the path prefix `/v1` stands for; not the version of the program. */
export const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `Everything is JSON over HTTP. A success carries its payload in \`data\`, a failure in \`error\`, whose \`code\` is what programs branch on.

Every request but the health check carries \`Authorization: Bearer <API_KEY>\`. A live key sends real email from verified domains; a test key runs everything and sends nothing, and the address of the recipient chooses the outcome. Neither sees the data of the other.

Members that the service does not know are refused, not ignored. Times are ISO 8601 in UTC. Lists are newest first and come in pages. New members may be added to responses at any time; anything else that would break a client comes with a new path prefix.`;

/** The OpenAPI document of these routes: the same for the same routes, so that it can be checked in. */
export function openApiOf(routes: readonly Route[], baseUrl: string): OpenApiDocument {
  const documented = routes.filter(({ path }) => path.startsWith('/v1/') || path === '/health');
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of documented) {
    const template = templateOf(route.path);
    paths[template] = { ...paths[template], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version: INTERFACE_VERSION,
      summary: 'Transactional email that you run yourself.',
      description: DESCRIPTION,
    },
    servers: [{ url: baseUrl, description: 'This service' }],
    tags: tagsOf(documented.map(({ path }) => path)),
    security: [{ apiKey: [] }],
    paths,
    components: componentsOf(
      documented.flatMap(codeGroupsOf).map(([, codes]) => codes),
      baseUrl,
    ),
  };
}
