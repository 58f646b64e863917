import { createApiReference } from '@scalar/api-reference';
import { makeAccessible } from './accessible.ts';

// Scalar's API reference (MIT) provides search, code samples, schemas and "try it", which would be a separate
// product to maintain.

/**
 * A live key would send real email from a page that is for reading. The key goes to this service alone, and
 * no cookie with it.
 */
async function careful(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, { ...init, credentials: 'omit' });
  if (/^Bearer svc_live_/.test(request.headers.get('authorization') ?? ''))
    throw new Error('Use a test key (svc_test_…) here: a live key would send real email.');
  return await fetch(request);
}

/**
 * Follows the theme that the header's switch has chosen (src/web/docs/docs.browser.js). The library would
 * follow the system alone.
 */
function followTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const { classList } = document.body;
  const apply = (): void => {
    const chosen = document.documentElement.dataset.theme;
    const isDark = chosen === undefined ? system.matches : chosen === 'dark';
    if (classList.contains('dark-mode') === isDark && classList.contains('light-mode') !== isDark) return;
    classList.toggle('dark-mode', isDark);
    classList.toggle('light-mode', !isDark);
  };
  addEventListener('themechange', apply);
  new MutationObserver(apply).observe(document.body, { attributeFilter: ['class'] });
  apply();
}

/** Puts the drawn reference into the place of the list of requests, also for who skips to the content. */
function takePlace(): void {
  document.getElementById('content')?.remove();
  document.querySelector('#reference main')?.setAttribute('id', 'content');
}

const mount = document.getElementById('reference');
if (mount) {
  createApiReference(mount, {
    url: '/openapi.json',
    // The address that the reader is at: the one of the document may be another, which the policy of the page
    // would refuse.
    servers: [{ url: location.origin, description: 'This installation' }],
    theme: 'none',
    withDefaultFonts: false,
    hideDarkModeToggle: true,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    documentDownloadType: 'none',
    persistAuth: false,
    authentication: { preferredSecurityScheme: 'apiKey' },
    modelsSectionLabel: 'Schemas',
    generateTagSlug: ({ name = '' }) => name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    generateOperationSlug: ({ operationId = '' }) => operationId,
    setPageTitle: ({ title }) => `${title} · Posthorn`,
    customFetch: careful,
    onLoaded: takePlace,
  });
  followTheme();
  makeAccessible(mount);
}
