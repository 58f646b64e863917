import type { Route } from '../../http/route.ts';
import { componentsOf } from './components.ts';
import type { OpenApiDocument, Operation } from './document.ts';
import { inlined, NamedSchemas } from './json-schema.ts';
import { codeGroupsOf, operationOf, templateOf } from './operation.ts';
import { type Tag, tagsOf } from './tags.ts';
import { webhooksOf } from './webhooks.ts';

/** The version of the interface with the path prefix `/v1`, not the version of the program. */
export const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `Everything is JSON over HTTP. A success carries its payload in \`data\`, a failure in \`error\`, whose \`code\` is what programs branch on.

Every request but the health check carries \`Authorization: Bearer <API_KEY>\`. A live key sends real email from verified domains; a test key runs everything and sends nothing, and the address of the recipient chooses the outcome. Neither sees the data of the other.

Members that the service does not know are refused, not ignored; of two members with one name in a JSON object the last one counts. Times are ISO 8601 in UTC. Lists are newest first and come in pages. New members may be added to responses at any time; anything else that would break a client comes with a new path prefix.

With a test key the address of a recipient at the simulator's domain (\`simulator.svc.test\`, unless the operator has set another) chooses what happens to it: \`delivered@\`, \`bounced@\` (for good), \`bounced-transient@\`, \`complained@\` (delivered, then called spam), \`opened@\`, \`clicked@\`, \`unsubscribed@\`, \`deferred@\` (two deferrals, then delivered) and \`suppressed@\`. A \`+label\` after the name makes it another address with the same fate; another name there is 422, and any other address is delivered.

A live email leaves from a verified domain or any name below it: with \`acme.test\` verified, \`hello@sub.acme.test\` sends too, signed by \`acme.test\`.

The limit of live emails is a calendar month in UTC and starts anew at midnight of its first day; the limit of test emails is a day in UTC and starts anew at midnight. Test emails and what they leave behind (events, webhook deliveries) are kept for 7 days from their acceptance, live ones for 90 days from their sending, replies under an Idempotency-Key for 24 hours.

A request that is no HTTP is answered before any of this: 400 without a body for one that cannot be parsed (the connection is closed without any where the method is none of HTTP), 431 without a body for a head (request line and headers) of more than 16 KiB; neither has an \`x-request-id\` or an error of the form above.`;

/** Makes the OpenAPI document of these routes. It is the same for the same routes, so that it can be committed. */
export function openApiOf(routes: readonly Route[], tags: readonly Tag[], baseUrl: string): OpenApiDocument {
  const documented = routes.filter(({ path }) => path.startsWith('/v1/') || path === '/health');
  const named = new NamedSchemas();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of documented) {
    const template = templateOf(route.path);
    paths[template] = { ...paths[template], [route.method.toLowerCase()]: operationOf(route, tags, named) };
  }
  const webhooks = webhooksOf(named);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version: INTERFACE_VERSION,
      summary: 'Transactional email that you run yourself.',
      description: DESCRIPTION,
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

/** The document for a page, with each schema where it is used, but a filter, which refers to itself. */
export function withSchemasInPlace(document: OpenApiDocument): OpenApiDocument {
  const { Error: _error, Pagination: _pagination, Filter: _filter, ...schemas } = document.components.schemas;
  return { ...document, paths: inlined(document.paths, schemas) };
}
