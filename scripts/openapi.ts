import { allRoutes, type ModuleDeps } from '../src/app.ts';
import { openApiOf } from '../src/modules/docs/openapi.ts';
import { keepFresh } from './fresh.ts';

// Routes are listed without touching what they depend on, so nothing of it has to exist.
const routes = allRoutes({} as ModuleDeps);
const document = openApiOf(routes, 'http://localhost:3000');

keepFresh('src/modules/docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`);
