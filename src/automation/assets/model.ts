import { type Static, Type } from '@sinclair/typebox';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { PICTURE_TYPES } from '../../platform/pictures/picture.ts';

/** The most octets of an image. */
export const LARGEST_ASSET = 5_242_880;
/** The most pixels of an image per side. */
export const MOST_PIXELS = 6_000;
/** The most images of a workspace. */
export const MOST_ASSETS = 2_000;
/** The most octets of all images of a workspace. */
export const MOST_OCTETS = 1_073_741_824;
/** The days after its last view for which an image counts as shown by mail that people still read. */
export const SHOWN_DAYS = 30;
/**
 * The days for which the address of a deleted image serves it: longer than mail waits to be sent, and than
 * sent mail is kept.
 */
export const SERVED_DAYS = 90;
/** The most uses that an answer names. */
export const MOST_USES = 20;
/** The path of images, before the name of the file. */
export const IMAGE_PATH = '/images/';

/** The types of resources whose content can show an image. */
export const ASSET_USERS = ['template', 'campaign'] as const;
export type AssetUser = (typeof ASSET_USERS)[number];

export const Asset = Type.Object(
  {
    id: Type.String(),
    filename: Type.String({ description: 'The name of the uploaded file.' }),
    contentType: literals(PICTURE_TYPES, {
      description: 'By the content of the file, whatever its name says.',
    }),
    width: Type.Integer({ description: 'In pixels, as it is shown.' }),
    height: Type.Integer({ description: 'In pixels, as it is shown.' }),
    size: Type.Integer({ description: 'In octets, without invisible data.' }),
    url: Type.String({ description: 'The public address, whose content never changes.' }),
    usedBy: Type.Array(Type.Object({ type: literals(ASSET_USERS), id: Type.String(), name: Type.String() }), {
      description: `The templates (published and newest version) and campaigns (as they are set and as they are being sent) of the caller's environment that show it, at most ${MOST_USES}.`,
    }),
    lastShownOn: Type.Union([Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), Type.Null()], {
      description: 'The last day (UTC) on which a mail program or a browser read it; null before the first.',
    }),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Asset' },
);

/** The query of POST /v1/assets. */
export const NewAssetQuery = Type.Object({
  filename: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[^\\u0000-\\u001f\\u007f/\\\\]+$',
      description: 'The name that lists show. Default: `image`, with the ending of its format.',
    }),
  ),
});

export const AssetQuery = Type.Object(pageQuery);

/** The query of DELETE /v1/assets/{id}. */
export const DeleteAssetQuery = Type.Object({
  force: Type.Optional(
    Type.Boolean({
      description:
        'True deletes an image that is still used or read, and has its address serve it no longer. Messages that show it show a gap. Also for an image that was deleted without it.',
    }),
  ),
});

export type AssetView = Static<typeof Asset>;
export type NewAssetQuery = Static<typeof NewAssetQuery>;
export type AssetQuery = Static<typeof AssetQuery>;
export type DeleteAssetQuery = Static<typeof DeleteAssetQuery>;
