import type { RawResponse } from '../../../http/request/route.ts';
import { type Html, html } from '../html.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { scriptedPage } from '../page.ts';

/** The addresses of the files that draw the reference. */
export interface ReferenceFiles {
  readonly styles: string;
  readonly script: string;
}

/** One request of the interface. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
}

/** Every request of the interface, in the order of the document. */
export const endpointsOf = ({ paths }: OpenApiDocument): readonly Endpoint[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, tags }]) => ({
      method: method.toUpperCase(),
      path,
      operationId,
      summary,
      tag: tags[0] ?? '',
    })),
  );

/**
 * The reference of the API. The browser draws it from the OpenAPI document (src/web/dashboard/web/reference);
 * the list of all requests is shown before that, and to readers without scripts.
 */
export function referencePage(document: OpenApiDocument, files: ReferenceFiles): RawResponse {
  const endpoints = endpointsOf(document);
  return scriptedPage({
    title: 'API reference',
    path: '/docs',
    ...files,
    body: html`<div id="reference"></div>
<main class="requests" id="content" tabindex="-1">
<h1>${document.info.title} API</h1>
<p class="lead">Every request, with its path. <a href="/openapi.json">The OpenAPI document</a> tells all of each; <a href="/docs/guides">the guides</a> tell how to begin, <a href="/docs/errors">the errors</a> what can go wrong.</p>
${document.tags.map(
  ({ name, description }) => html`<section>
<h2>${name}</h2>
<p>${description}</p>
<ul>${endpoints.filter(({ tag }) => tag === name).map(entry)}</ul>
</section>
`,
)}</main>`,
  });
}

const entry = ({ method, path, operationId, summary }: Endpoint): Html =>
  html`<li id="${operationId}"><code>${method} ${path}</code> ${summary}</li>
`;
