import { Type } from '@sinclair/typebox';
import { RawResponse, type Route, route } from '../../http/request/route.ts';
import { notFound } from '../../platform/errors/failure.ts';
import { PICTURE_TYPES } from '../../platform/pictures/picture.ts';
import { type AssetCommands, createAsset, deleteAsset } from './commands.ts';
import type { Images } from './images.ts';
import {
  Asset,
  AssetQuery,
  type AssetView,
  DeleteAssetQuery,
  IMAGE_PATH,
  LARGEST_ASSET,
  MOST_ASSETS,
  MOST_OCTETS,
  MOST_PIXELS,
  NewAssetQuery,
  SERVED_DAYS,
} from './model.ts';
import { assetDetail, listAssets } from './queries.ts';

/** The services of the endpoints. */
export interface AssetDeps extends AssetCommands {
  readonly images: Images;
}

const FILE = '3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d.png';
const EXAMPLE: AssetView = {
  id: 'ast_01m7xj1rwp4sersf8ggsa354',
  filename: 'spring-sale.png',
  contentType: 'image/png',
  width: 1200,
  height: 630,
  size: 84_213,
  url: `https://mail.acme.example${IMAGE_PATH}${FILE}`,
  usedBy: [{ type: 'template', id: 'tpl_01m7xj1rwp4sersf8ggsa354', name: 'Spring sale' }],
  lastShownOn: '2026-11-20',
  createdAt: '2026-11-20T21:33:00.000Z',
};
const ASSET_ID = { prefix: 'ast', resource: 'asset' } as const;
const count = (number: number): string => number.toLocaleString('en');

export const assetRoutes = (deps: AssetDeps): readonly Route[] => [
  route('POST /v1/assets', {
    name: 'createAsset',
    audit: { action: 'asset.created' },
    permission: 'templates:write',
    summary: 'Upload an image',
    description: `The body is a PNG, a JPEG, a GIF or a WebP, recognised by its content: at most 5 MiB and ${count(MOST_PIXELS)} pixels per side, and without data after its end but for what cameras append, which is removed. A GIF or a WebP may be animated. Invisible data (Exif except the orientation, comments, colour profiles) is removed. The same content is the same image, so that a repeated upload answers with the first. A workspace has at most ${count(MOST_ASSETS)} images and ${MOST_OCTETS / 1_073_741_824} GiB of them. Both environments share them.`,
    query: NewAssetQuery,
    mediaTypes: [...PICTURE_TYPES],
    body: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
    bodyLimit: LARGEST_ASSET,
    response: Asset,
    status: 201,
    failures: ['VALIDATION_ERROR', 'QUOTA_EXCEEDED'],
    example: { response: { ...EXAMPLE, usedBy: [], lastShownOn: null } },
    handle: (call) => createAsset(deps, call),
  }),
  route('GET /v1/assets', {
    name: 'listAssets',
    permission: 'templates:read',
    summary: 'List images',
    description: 'Newest first, those of both environments.',
    query: AssetQuery,
    response: Type.Array(Asset),
    example: { response: [EXAMPLE] },
    handle: (call) => listAssets(deps, call),
  }),
  route('GET /v1/assets/:id', {
    name: 'getAsset',
    permission: 'templates:read',
    summary: 'Get an image',
    description: 'Its description; the image itself is at `url`.',
    params: { id: ASSET_ID },
    response: Asset,
    example: { response: EXAMPLE },
    handle: (call) => assetDetail(deps, call),
  }),
  route('DELETE /v1/assets/:id', {
    name: 'deleteAsset',
    audit: { action: 'asset.deleted' },
    permission: 'templates:write',
    summary: 'Delete an image',
    description: `Refused with 409 while a template or a campaign shows it, unless \`force\` is set. Mail that was accepted before, and older versions of templates, may show it all the same: lists hide it, and its address serves it for ${SERVED_DAYS} more days, longer while any version, any campaign or any reader shows it. Uploading the same content again brings it back. With \`force\` it is removed at once. At most ${count(MOST_ASSETS)} deleted images of a workspace, and ${MOST_OCTETS / 1_073_741_824} GiB of them, are served. Test keys cannot delete an image that was uploaded in the live environment, or that a template or campaign of it shows.`,
    params: { id: ASSET_ID },
    query: DeleteAssetQuery,
    failures: ['CONFLICT', 'FORBIDDEN'],
    handle: (call) => deleteAsset(deps, call),
  }),
];

/** Mail services fetch images for all their users from a few addresses. */
const PER_MINUTE = 12_000;
const A_YEAR = 31_536_000;

/** The public route of images. */
export const imagePages = ({ images }: Pick<AssetDeps, 'images'>): readonly Route[] => [
  route(`GET ${IMAGE_PATH}:file`, {
    permission: 'public',
    ipLimitPerMinute: PER_MINUTE,
    summary: 'Show an image',
    params: { file: { text: 'The last part of the url of an asset.' } },
    response: Type.Null(),
    handle: async ({ params }) => {
      const image = await images.find(params.file);
      if (!image) return notFound('image');
      return new RawResponse(image.type, image.content, {
        headers: {
          'cache-control': `public, max-age=${A_YEAR}, immutable`,
          'content-security-policy': "default-src 'none'; sandbox",
          'cross-origin-resource-policy': 'cross-origin',
        },
      });
    },
  }),
];
