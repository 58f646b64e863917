import type { Module } from '../../http/module.ts';
import { installationOf } from './installation.ts';
import { type DocsDeps, docsRoutes } from './routes.ts';

/** The documentation, made from the endpoints of all modules. */
export const docsModule: Module<DocsDeps, Pick<DocsDeps, 'documented' | 'tags'>> = {
  name: 'docs',
  pages: docsRoutes,
  open: ({ config }) => ({
    connect: (_, { documented, tags }) => ({
      api: undefined,
      deps: { documented, tags, installation: installationOf(config) },
    }),
  }),
};
