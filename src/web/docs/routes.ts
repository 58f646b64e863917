import { Type } from '@sinclair/typebox';
import type { Tag } from '../../http/module.ts';
import { RawResponse, type Route, route } from '../../http/request/route.ts';
import { CHECK_CODES, CHECKS } from '../../mail/check/codes.ts';
import { openReferencePack } from '../dashboard/pack.ts';
import { packedFilesRoute, whenBuilt } from '../dashboard/packed-files.ts';
import base from '../dashboard/web/base.css' with { type: 'text' };
import icon from '../dashboard/web/icon.svg' with { type: 'text' };
import tokens from '../dashboard/web/tokens.css' with { type: 'text' };
import script from './docs.browser.js' with { type: 'text' };
import style from './docs.css' with { type: 'text' };
import { llmsText, ROBOTS } from './for-programs.ts';
import { GUIDES, guideFor } from './guides.ts';
import type { Installation } from './installation.ts';
import { lifeDiagram } from './life-diagram.ts';
import { openApiOf } from './openapi/openapi.ts';
import { PAGE_HEADERS } from './page.ts';
import { errorsPage } from './pages/errors-page.ts';
import { guidePage } from './pages/guide-page.ts';
import { guidesPage } from './pages/guides-page.ts';
import { referencePage } from './pages/reference-page.ts';
import { searchIndex } from './search-index.ts';
import checkMessages from './texts/check-messages.md' with { type: 'text' };
import domainReports from './texts/domain-reports.md' with { type: 'text' };
import languages from './texts/languages.md' with { type: 'text' };
import life from './texts/life-of-an-email.md' with { type: 'text' };
import receiving from './texts/receive-mail.md' with { type: 'text' };
import receivers from './texts/receivers.md' with { type: 'text' };
import setUpSending from './texts/set-up-sending.md' with { type: 'text' };
import templates from './texts/templates.md' with { type: 'text' };
import failures from './texts/what-happens-when.md' with { type: 'text' };

/** The documented endpoints, and the installation that answers them. */
export interface DocsDeps {
  readonly documented: readonly Route[];
  readonly tags: readonly Tag[];
  readonly installation: Installation;
}

const ASSETS = '/docs/assets';

/** The pages of the documentation, which every error links to. They are public. */
export function docsRoutes({ documented, tags, installation }: DocsDeps): readonly Route[] {
  const openApi = once(() => openApiOf(documented, tags, installation));
  const asset = (type: string, content: string) => new RawResponse(type, content, { headers: PAGE_HEADERS });
  return [
    documentRoute('/openapi.json', 'Get the OpenAPI document', () =>
      asset('application/json', JSON.stringify(openApi())),
    ),
    route('GET /docs', {
      ...PUBLIC_PAGE,
      summary: 'Open the API reference',
      handle: () =>
        whenBuilt(openReferencePack(), PAGE_HEADERS, ({ build, styles, script: code }) =>
          referencePage(openApi(), {
            styles: `${ASSETS}/${build}/${styles}`,
            script: `${ASSETS}/${build}/${code}`,
          }),
        ),
    }),
    packedFilesRoute(ASSETS, 'Get a file of the reference', openReferencePack),
    documentRoute('/robots.txt', 'Get the rules for crawlers', () =>
      asset('text/plain; charset=utf-8', ROBOTS),
    ),
    documentRoute('/llms.txt', 'Get the list of documentation pages for programs', () =>
      asset('text/plain; charset=utf-8', llmsText(installation.baseUrl)),
    ),
    documentRoute('/docs/guides', 'Open the guides', () => guidesPage(installation)),
    ...GUIDES.map((guide) =>
      documentRoute(guide.path, `Open the guide: ${guide.title.toLowerCase()}`, () =>
        guidePage(guide.title, guide.path, guideFor(guide, installation)),
      ),
    ),
    documentRoute('/docs/set-up-sending', 'Open the guide to sending', () =>
      guidePage('Set up sending', '/docs/set-up-sending', setUpSending),
    ),
    documentRoute('/docs/receive-mail', 'Open the guide to received mail', () =>
      guidePage(
        'Receive mail',
        '/docs/receive-mail',
        receiving.replaceAll('{{ baseUrl }}', installation.baseUrl),
      ),
    ),
    documentRoute('/docs/domain-reports', 'Open the guide to DMARC and TLS reports', () =>
      guidePage('Read DMARC and TLS reports', '/docs/domain-reports', domainReports),
    ),
    documentRoute('/docs/templates', 'Open the guide to templates', () =>
      guidePage('Templates', '/docs/templates', templates),
    ),
    documentRoute('/docs/check-messages', 'Open the guide to checks of messages', () =>
      guidePage('Check messages', '/docs/check-messages', checkMessages.replace('CHECKS', checkTable)),
    ),
    documentRoute('/docs/languages', 'Open the guide to languages', () =>
      guidePage('Languages', '/docs/languages', languages),
    ),
    documentRoute('/docs/webhooks', 'Open the guide to webhooks', () =>
      guidePage('Receiving webhooks', '/docs/webhooks', receivers),
    ),
    documentRoute('/docs/errors', 'Open the list of error codes', errorsPage),
    documentRoute('/docs/life-of-an-email', 'Open the life of an email', () =>
      guidePage('The life of an email', '/docs/life-of-an-email', life.replace('DIAGRAM', lifeDiagram)),
    ),
    documentRoute('/docs/what-happens-when', 'Open the list of failures and their effects', () =>
      guidePage('What happens when …', '/docs/what-happens-when', failures),
    ),
    documentRoute('/docs/search.json', 'Get the search index of the pages', () =>
      asset('application/json', JSON.stringify(searchIndex(openApi()))),
    ),
    documentRoute('/docs/docs.css', 'Get the style sheet of the pages', () =>
      asset('text/css; charset=utf-8', [colors(), base, style].join('\n')),
    ),
    documentRoute('/docs/docs.js', 'Get the script of the pages', () =>
      asset('text/javascript; charset=utf-8', script),
    ),
    documentRoute('/docs/icon.svg', 'Get the icon', () => asset('image/svg+xml', icon)),
  ];
}

/** The rules of checks, from the list by which messages are checked. */
const checkTable = (): string =>
  [
    '| Severity | Code | Rule |',
    '| --- | --- | --- |',
    ...CHECK_CODES.map((code) => `| ${CHECKS[code].severity} | \`${code}\` | ${CHECKS[code].rule} |`),
  ].join('\n');

/**
 * The colours of the application as properties. Its build reads them as a theme of Tailwind, whose first line
 * clears all others.
 */
function colors(): string {
  const [, theme = ''] = /@theme inline \{\n(?: *--color-\*: initial;\n)?(.*?)\n\}/s.exec(tokens) ?? [];
  return `:root {\n${theme}\n}`;
}

const PUBLIC_PAGE = {
  permission: 'public',
  response: Type.Any(),
  status: 200,
} as const;

const documentRoute = (path: string, summary: string, draw: () => RawResponse): Route =>
  route(`GET ${path}`, { ...PUBLIC_PAGE, summary, handle: once(draw) });

/**
 * Creates a value at the first call and keeps it: rendering takes 20 ms, which should not delay the start.
 */
function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
