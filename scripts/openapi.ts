import { documentedRoutes, MODULE_TAGS } from '../src/modules.ts';
import { LONGEST_RETENTION } from '../src/platform/config/settings/settings.ts';
import { openApiOf } from '../src/web/docs/openapi/openapi.ts';
import { keepFresh } from './fresh.ts';
import { clientTypesOf } from './openapi/client-types.ts';

const document = openApiOf(documentedRoutes(), MODULE_TAGS, {
  baseUrl: 'http://localhost:3000',
  ...LONGEST_RETENTION,
});

keepFresh('src/web/docs/openapi/openapi.json', `${JSON.stringify(document, null, 2)}\n`);
keepFresh('src/web/client/operations.ts', clientTypesOf(document));
