import { openApiOf } from '../src/modules/docs/openapi.ts';
import { documentedRoutes, MODULE_TAGS } from '../src/modules.ts';
import { keepFresh } from './fresh.ts';

const document = openApiOf(documentedRoutes(), MODULE_TAGS, 'http://localhost:3000');

keepFresh('src/modules/docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`);
