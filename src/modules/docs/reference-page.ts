import { PERMISSIONS } from '../../auth/permissions.ts';
import { JSON_TYPE } from '../../http/body/media-type.ts';
import type { RawResponse } from '../../http/route.ts';
import type { MediaType, OpenApiDocument, Operation, Parameter, Reference } from './document.ts';
import { type Html, html, inline, prose } from './html.ts';
import { withSchemasInPlace } from './openapi.ts';
import { type NavigationGroup, page } from './page.ts';
import { describe, memberTable } from './schema-rows.ts';

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The reference of the whole interface on one page, drawn from the OpenAPI document. */
export function referencePage(published: OpenApiDocument): RawResponse {
  const document = withSchemasInPlace(published);
  const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = document.tags.map((tag) => ({
    tag,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const navigation: NavigationGroup[] = [
    {
      title: 'Basics',
      entries: [
        { href: '#overview', label: 'Overview' },
        { href: '#permissions', label: 'Permissions' },
        { href: '#idempotency', label: 'Idempotency' },
        { href: '#pages', label: 'Pages of lists' },
        { href: '#limits', label: 'Rate limits' },
      ],
    },
    ...groups.map(({ tag, endpoints: members }) => ({
      title: tag.name,
      entries: members.map(({ method, operation }) => ({
        href: `#${operation.operationId}`,
        label: operation.summary,
        method,
      })),
    })),
  ];
  return page({
    title: 'Reference',
    path: '/docs',
    navigation,
    body: html`${basics(document)}
${groups.map(
  ({ tag, endpoints: members }) => html`<section class="group">
<h2 class="group-title">${tag.name}</h2>
<p class="lead">${tag.description}</p>
${members.map((endpoint) => operationArticle(endpoint, document))}
</section>
`,
)}`,
  });
}

function basics({ info, servers }: OpenApiDocument): Html {
  const permissions = Object.entries(PERMISSIONS).map(
    ([name, grants]) => html`<tr><th scope="row"><code>${name}</code></th><td>${grants}</td></tr>
`,
  );
  return html`<section id="overview">
<h1>${info.title} <span class="version">${info.version}</span></h1>
<p class="lead">${info.summary}</p>
${prose(info.description)}
<p>The base of all paths is <code>${servers[0]?.url ?? '/'}</code>. What can go wrong is on the page of <a href="/docs/errors">errors</a>.</p>
</section>
<section id="permissions">
<h2>Permissions</h2>
<p>Every key carries permissions. A request that lacks one is answered 403 with a message that names it. No key can give another what it lacks itself.</p>
<table class="members">${permissions}</table>
</section>
<section id="idempotency">
<h2>Idempotency</h2>
${prose(
  'Send `Idempotency-Key` with a POST to make it safe to repeat: for 24 hours the same request gets the stored reply, marked with `idempotency-replayed: true`, and nothing is done twice. The key holds within the workspace and environment. It is written together with the action, so that a crash can lose neither.\n\nThe same key with another request is 409 `IDEMPOTENCY_CONFLICT`; while the first is still running, 409 `IDEMPOTENCY_IN_PROGRESS`. The order of members in the body does not matter. A refused request leaves the key free.',
)}
</section>
<section id="pages">
<h2>Pages of lists</h2>
${prose(
  'A list has `limit` items a page. While `pagination.hasMore` is true, ask again with `after` set to `pagination.nextCursor` and the same filters. That alone says whether there is more: a page of a list that is searched by filters may hold fewer items than `limit`, or none, and still not be the last. A cursor belongs to its list and filters; it is opaque and may be kept.',
)}
</section>
<section id="limits">
<h2>Rate limits</h2>
${prose(
  'Each client address has a number of requests a minute, counted from its first one; `x-ratelimit-limit`, `x-ratelimit-remaining` and `x-ratelimit-reset` (seconds) say where it stands. Each API key has a number of requests in every clock second, about which the headers say nothing. Beyond either, the answer is 429 `RATE_LIMITED`; refused requests count as well. Unless this installation shares its limits between instances, each instance counts for itself.',
)}
</section>
`;
}

function operationArticle({ method, path, operation }: Endpoint, document: OpenApiDocument): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const shown = parameters.map((parameter) => resolve(parameter, document));
  return html`<article class="operation" id="${operationId}">
<div class="text">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="path"><span class="verb ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${prose(description)}
${shown.length > 0 && html`<h4>Parameters</h4>${parameterTable(shown)}`}
${requestBody && Object.entries(requestBody.content).map(([type, media]) => bodySection(type, media))}
<h4>Responses</h4>
<ul class="responses">${Object.entries(responses).map(([status, response]) => responseItem(status, response))}</ul>
</div>
<div class="samples">${samples(method, path, operation, document)}</div>
</article>
`;
}

function parameterTable(parameters: readonly Parameter[]): Html {
  const rows = parameters.map(
    ({
      name,
      in: place,
      required,
      description,
      schema,
    }) => html`<tr><th scope="row"><code>${name}</code> <span class="place">${place}</span>${
      required && html` <span class="required">required</span>`
    }</th><td>${describe({ ...schema, description })}</td></tr>
`,
  );
  return html`<table class="members">${rows}</table>`;
}

function bodySection(type: string, { schema }: MediaType): Html {
  return html`<h4>Body <span class="place">${type}</span></h4>${schema.properties ? memberTable(schema) : describe(schema)}`;
}

function responseItem(status: string, response: Operation['responses'][string]): Html {
  if ('$ref' in response) {
    const codes = response.$ref.slice(response.$ref.lastIndexOf('/') + 1).split('.');
    const links = codes.map((code) => html` <a href="/docs/errors#${code}"><code>${code}</code></a>`);
    return html`<li><span class="status">${status}</span>${links}</li>
`;
  }
  const data = response.content?.[JSON_TYPE]?.schema.properties?.data;
  return html`<li><span class="status">${status}</span> ${inline(response.description)}${
    data && html`<div class="data"><code>data</code> ${describe(data)}</div>`
  }</li>
`;
}

function samples(method: string, path: string, operation: Operation, { servers }: OpenApiDocument): Html {
  const content = operation.requestBody?.content ?? {};
  const body = content[JSON_TYPE]?.example;
  const [fileType] = Object.keys(content).filter((type) => type !== JSON_TYPE);
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${servers[0]?.url ?? ''}${examplePath(path, operation)}'`,
    ...(operation.security ? [] : ['-H "Authorization: Bearer $POSTHORN_API_KEY"']),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
        ]),
    ...(fileType === undefined
      ? []
      : [`-H 'Content-Type: ${fileType}'`, `--data-binary '@example.${fileType.split('/')[1]}'`]),
  ];
  const answered = Object.values(operation.responses).flatMap((response) =>
    '$ref' in response ? [] : (response.content?.[JSON_TYPE]?.example ?? []),
  );
  return html`<pre tabindex="0"><code>${lines.join(' \\\n  ')}</code></pre>${answered.map(
    (example) => html`<pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>`,
  )}`;
}

/** The path with an example in place of each name, so that the line runs as it is: curl takes braces for a list of its own. */
const examplePath = (path: string, { parameters = [] }: Operation): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((each) => 'name' in each && each.name === name);
    const examples = parameter && 'schema' in parameter ? parameter.schema.examples : undefined;
    return Array.isArray(examples) ? encodeURIComponent(String(examples[0])) : name;
  });

function resolve(parameter: Parameter | Reference, { components }: OpenApiDocument): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const found = components.parameters[parameter.$ref.slice(parameter.$ref.lastIndexOf('/') + 1)];
  if (!found) throw new Error(`${parameter.$ref} leads nowhere`);
  return found;
}
