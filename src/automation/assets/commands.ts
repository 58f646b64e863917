import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import { mintId } from '../../platform/db/ids.ts';
import { keepReply } from '../../platform/db/stored-replies.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import { checkPicture, PICTURE_FORMATS, PICTURE_TYPES } from '../../platform/pictures/picture.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import type { Images } from './images.ts';
import {
  type AssetView,
  type DeleteAssetQuery,
  MOST_ASSETS,
  MOST_OCTETS,
  MOST_PIXELS,
  type NewAssetQuery,
  SHOWN_DAYS,
} from './model.ts';
import { type AssetReader, assetView, NO_ASSET } from './queries.ts';
import { deleteAssetRow, findUses, insertAsset, readAsset } from './store.ts';

/** The services that change images. */
export interface AssetCommands extends AssetReader {
  readonly images: Pick<Images, 'forget'>;
}

const TOO_MANY = new Failure(
  'QUOTA_EXCEEDED',
  `This workspace has ${MOST_ASSETS.toLocaleString('en')} images, or ${MOST_OCTETS / 1_073_741_824} GiB of them, the maximum.`,
  { suggestion: 'Delete images that nothing shows any more.' },
);

const LIVE = new Failure(
  'FORBIDDEN',
  'The image was uploaded in the live environment, or something of it shows the image.',
  { suggestion: 'Delete it with a live key, or in the live environment of the dashboard.' },
);

/** Stores an image. The same content is the same image, so that a repeated upload changes nothing. */
export const createAsset = (
  deps: AssetCommands,
  call: Call<unknown, NewAssetQuery, Uint8Array>,
): Promise<AssetView | Failure | Replay> =>
  idempotently(deps.database, keyedBy(call), {
    lookFirst: true,
    run: async () => {
      const asset = await create(deps, call);
      if (!(asset instanceof Failure)) await keepReply(deps.database, keyedBy(call), 201, asset);
      return asset;
    },
  });

async function create(
  { database, publicUrl, uses }: AssetCommands,
  { caller, query, body, now }: Call<unknown, NewAssetQuery, Uint8Array>,
): Promise<AssetView | Failure> {
  const { workspaceId, livemode } = caller;
  const picture = await checkPicture(body, { types: PICTURE_TYPES, mostPixels: MOST_PIXELS });
  if ('problem' in picture) return invalid([{ path: '/body', message: picture.problem }]);
  const { type, file, width, height } = picture;
  const id = await insertAsset(database, {
    row: {
      ...{ id: mintId('ast', now), workspaceId, livemode, file, width, height, contentType: type },
      filename: query.filename ?? `image.${PICTURE_FORMATS[type].suffix}`,
      ...{ size: picture.content.byteLength, createdAt: new Date(now) },
    },
    picture,
  });
  const row = id === null ? undefined : await readAsset(database, workspaceId, id);
  if (!row) return TOO_MANY;
  return assetView(row, publicUrl, await findUses(database, workspaceId, [file], uses), caller);
}

/** Deletes an image that nothing shows any more, or any with `force`. */
export async function deleteAsset(
  { database, uses, images }: AssetCommands,
  { caller, params: { id }, query: { force = false }, now }: Call<{ readonly id: string }, DeleteAssetQuery>,
): Promise<null | Failure> {
  const { workspaceId } = caller;
  const row = await readAsset(database, workspaceId, id);
  if (!row) return NO_ASSET;
  const found = await findUses(database, workspaceId, [row.file], uses);
  const isLive = row.livemode || found.some((use) => use.livemode);
  if (isLive && !caller.livemode) return LIVE;
  if (!force) {
    const use = found.find((each) => each.livemode === caller.livemode);
    if (use) return stillShown(`The ${use.type} “${use.name}” shows the image.`);
    const [other] = found;
    if (other) return stillShown(`A ${other.type} of the test environment shows the image.`);
    const { lastShownOn } = row;
    if (lastShownOn !== null && now - Date.parse(lastShownOn) < SHOWN_DAYS * DAY_MS)
      return stillShown(`The image was last read on ${lastShownOn}: mail that people open shows it.`);
  }
  await deleteAssetRow(database, workspaceId, id);
  images.forget(row.file);
  return null;
}

const stillShown = (message: string): Failure =>
  new Failure('CONFLICT', message, { suggestion: 'Use force=true to delete it nevertheless.' });
