import type { Module } from '../../http/module.ts';
import { rarely } from '../../platform/telemetry/rarely.ts';
import type { AssetsApi, AssetUse } from './api.ts';
import { assetMover } from './asset-mover.ts';
import { assetPruner } from './asset-pruner.ts';
import { Images } from './images.ts';
import { IMAGE_PATH } from './model.ts';
import { type AssetDeps, assetRoutes, imagePages } from './routes.ts';
import { readSizes } from './store.ts';

/** The functions that images take from other modules. */
interface AssetNeeds {
  /** Everything whose content can show images. */
  readonly uses: readonly AssetUse[];
}

/** Images of emails. */
export const assetsModule: Module<AssetDeps, AssetNeeds, AssetsApi> = {
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
  open: ({ config, database, reads, clock, logger, bodies }) => ({
    connect(_, { uses }) {
      const warn = rarely(logger, () => clock.monotonic());
      const images = new Images({ database, bodies }, clock, {
        onError: (error) => warn({ err: error }, 'The day on which an image was shown could not be stored.'),
        onLost: ({ key, what }) =>
          warn({ key, what }, 'The octets of an image are lost in BODY_STORE: upload the image again.'),
      });
      const { publicUrl } = config;
      const before = `${publicUrl}${IMAGE_PATH}`;
      return {
        api: {
          async sizesOf(urls) {
            const files = urls.flatMap((url) => (url.startsWith(before) ? [url.slice(before.length)] : []));
            const sizes = await readSizes(database, files);
            return new Map([...sizes].map(([file, size]) => [before + file, size]));
          },
        },
        deps: { database, reads, publicUrl, uses, images, bodies },
        duties: [
          assetPruner({ database, clock, uses }),
          ...(bodies ? [assetMover({ database, clock, logger, bodies })] : []),
        ],
      };
    },
  }),
};
