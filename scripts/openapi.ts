import { allRoutes, type ModuleDeps } from '../src/app.ts';
import { openApiOf } from '../src/modules/docs/openapi.ts';
import { keepFresh } from './fresh.ts';

// Stating routes touches nothing that they depend on: none of it needs to be there.
const routes = allRoutes({} as ModuleDeps);
const document = openApiOf(routes, 'http://localhost:3000');

keepFresh('src/modules/docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`);
