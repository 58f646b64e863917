import { LONGEST_RETENTION } from '../src/config/settings.ts';
import { openApiOf } from '../src/modules/docs/openapi.ts';
import { documentedRoutes, MODULE_TAGS } from '../src/modules.ts';
import { keepFresh } from './fresh.ts';
import { clientTypesOf } from './openapi/client-types.ts';

const document = openApiOf(documentedRoutes(), MODULE_TAGS, {
  baseUrl: 'http://localhost:3000',
  ...LONGEST_RETENTION,
});

keepFresh('src/modules/docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`);
keepFresh('src/dashboard/web/application/api/operations.ts', clientTypesOf(document));
keepFresh('src/client/operations.ts', clientTypesOf(document));
