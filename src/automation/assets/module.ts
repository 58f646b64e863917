import type { Module } from '../../http/module.ts';
import { rarely } from '../../platform/telemetry/rarely.ts';
import type { AssetUse } from './api.ts';
import { Images } from './images.ts';
import { type AssetDeps, assetRoutes, imagePages } from './routes.ts';

/** The functions that images take from other modules. */
interface AssetNeeds {
  /** Everything whose content can show images. */
  readonly uses: readonly AssetUse[];
}

/** Images of emails. */
export const assetsModule: Module<AssetDeps, AssetNeeds> = {
  name: 'assets',
  tags: [
    {
      segment: 'assets',
      name: 'Images',
      description: 'Images of emails, uploaded once and shown by all of them.',
    },
  ],
  routes: assetRoutes,
  pages: imagePages,
  open: ({ config, database, reads, clock, logger }) => ({
    connect(_, { uses }) {
      const warn = rarely(logger, () => clock.monotonic());
      const images = new Images(database, clock, (error) =>
        warn({ err: error }, 'The day on which an image was shown could not be stored.'),
      );
      return { api: undefined, deps: { database, reads, publicUrl: config.publicUrl, uses, images } };
    },
  }),
};
