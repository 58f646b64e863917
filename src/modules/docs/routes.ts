import { Type } from '@sinclair/typebox';
import { RawResponse, type Route, route } from '../../http/route.ts';
import { errorsPage } from './errors-page.ts';
import { guidePage } from './guide-page.ts';
import { lifeDiagram } from './life-diagram.ts';
import life from './life-of-an-email.md' with { type: 'text' };
import { openApiOf } from './openapi.ts';
import { PAGE_HEADERS } from './page.ts';
import receivers from './receivers.md' with { type: 'text' };
import script from './reference.browser.js' with { type: 'text' };
import style from './reference.css' with { type: 'text' };
import { referencePage } from './reference-page.ts';
import type { Tag } from './tags.ts';
import templates from './templates.md' with { type: 'text' };
import failures from './what-happens-when.md' with { type: 'text' };

/** The documented endpoints and their public URL. */
export interface DocsDeps {
  readonly documented: readonly Route[];
  readonly tags: readonly Tag[];
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

/** The pages of the documentation, which every error links to. They are public. */
export function docsRoutes({ documented, tags, baseUrl }: DocsDeps): readonly Route[] {
  const openApi = once(() => openApiOf(documented, tags, baseUrl));
  const asset = (type: string, content: string) => new RawResponse(type, content, { headers: PAGE_HEADERS });
  return [
    documentRoute('/openapi.json', 'Get the OpenAPI document', () =>
      asset('application/json', JSON.stringify(openApi())),
    ),
    documentRoute('/docs', 'Read the reference', () => referencePage(openApi())),
    documentRoute('/docs/templates', 'Read how templates are written', () =>
      guidePage('Templates', '/docs/templates', templates),
    ),
    documentRoute('/docs/webhooks', 'Read how to receive webhooks', () =>
      guidePage('Receiving webhooks', '/docs/webhooks', receivers),
    ),
    documentRoute('/docs/errors', 'Read what the error codes mean', errorsPage),
    documentRoute('/docs/life-of-an-email', 'Read what becomes of an email', () =>
      guidePage('The life of an email', '/docs/life-of-an-email', life.replace('DIAGRAM', lifeDiagram)),
    ),
    documentRoute('/docs/what-happens-when', 'Read what happens when something breaks', () =>
      guidePage('What happens when …', '/docs/what-happens-when', failures),
    ),
    documentRoute('/docs/reference.css', 'Get the look of the pages', () =>
      asset('text/css; charset=utf-8', style),
    ),
    documentRoute('/docs/reference.js', 'Get the keys of the pages', () =>
      asset('text/javascript; charset=utf-8', script),
    ),
  ];
}

function documentRoute(path: string, summary: string, draw: () => RawResponse): Route {
  return route({
    method: 'GET',
    path,
    permission: 'public',
    summary,
    response: Type.Any(),
    status: 200,
    handle: once(draw),
  });
}

/** Makes a value at the first call and keeps it: rendering takes 20 ms, which should not delay the start. */
function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
