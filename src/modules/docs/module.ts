import { defineModule } from '../module.ts';
import { installationOf } from './installation.ts';
import { type DocsDeps, docsRoutes } from './routes.ts';

/** The documentation, made from the endpoints of all modules. */
export const docsModule = defineModule<DocsDeps>({
  name: 'docs',
  pages: docsRoutes,
  open: ({ config }) => ({
    connect: ({ documented, tags }) => ({ deps: { documented, tags, installation: installationOf(config) } }),
  }),
});
