import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { BodyStore } from '../../platform/bodies/body-store.ts';
import { mintId } from '../../platform/db/ids.ts';
import { keepReply } from '../../platform/db/stored-replies.ts';
import { Failure, invalidAt } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { checkPicture, PICTURE_FORMATS, PICTURE_TYPES } from '../../platform/pictures/picture.ts';
import type { Images } from './images.ts';
import {
  type AssetView,
  type DeleteAssetQuery,
  MOST_ASSETS,
  MOST_OCTETS,
  MOST_PIXELS,
  type NewAssetQuery,
} from './model.ts';
import { expectOwnStore, putAway } from './octets.ts';
import { type AssetReader, assetView, NO_ASSET } from './queries.ts';
import {
  deleteAssetRow,
  findByFile,
  findUses,
  hasRoom,
  hideAsset,
  insertAsset,
  type NewAsset,
  noteUpload,
  readAsset,
} from './store.ts';

/** The services that change images. */
export interface AssetCommands extends AssetReader {
  readonly images: Pick<Images, 'forget' | 'isLost'>;
  /** The store of the octets; null where they lie in the database. */
  readonly bodies: BodyStore | null;
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

const FULL = new Failure(
  'CONFLICT',
  `The addresses of ${MOST_ASSETS.toLocaleString('en')} deleted images, or of ${MOST_OCTETS / 1_073_741_824} GiB of them, are served already, the maximum.`,
  { suggestion: 'Use force=true to delete it at once, or wait until the first of them are removed.' },
);

/**
 * Stores an image. The same content is the same image, so that a repeated upload changes nothing, unless its
 * octets were lost.
 */
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
  deps: AssetCommands,
  { caller, query, body, now }: Call<unknown, NewAssetQuery, Uint8Array>,
): Promise<AssetView | Failure> {
  const { database, publicUrl, uses } = deps;
  const { workspaceId, livemode } = caller;
  const picture = await checkPicture(body, { types: PICTURE_TYPES, mostPixels: MOST_PIXELS });
  if ('problem' in picture) return invalidAt('/body', picture.problem);
  const { type, file, width, height, content } = picture;
  const id = await stored(deps, content, {
    id: mintId('ast', now),
    workspaceId,
    livemode,
    file,
    width,
    height,
    contentType: type,
    filename: query.filename ?? `image.${PICTURE_FORMATS[type].suffix}`,
    size: content.byteLength,
    createdAt: new Date(now),
  });
  if (id === null) return TOO_MANY;
  const row = await readAsset(database, workspaceId, id);
  if (!row) throw new UnavailableError('The image was deleted as it was uploaded. Upload it again.');
  return assetView(row, publicUrl, await findUses(database, workspaceId, [file], uses), caller);
}

/**
 * Stores what is not stored yet, and answers the id; null where the workspace has too many images. @throws
 * UnavailableError
 */
async function stored(
  { database, bodies, images }: AssetCommands,
  content: Uint8Array<ArrayBuffer>,
  row: NewAsset,
): Promise<string | null> {
  const known = await findByFile(database, row);
  const key = known?.bodyKey ?? null;
  const lost = key !== null && (await images.isLost(key)) ? key : null;
  // One that was deleted, or is meanwhile, takes the room of a new one.
  if (known && !known.deletedAt && lost === null && (await noteUpload(database, known.id, row.livemode)))
    return known.id;
  // A body that no image may refer to is not written.
  if (bodies && !(await hasRoom(database, row))) return null;
  if (lost !== null && bodies) await expectOwnStore(database, bodies);
  const octets = bodies ? await putAway(bodies, row.workspaceId, content) : { content };
  const id = await insertAsset(database, row, octets, lost);
  images.forget(row.file);
  return id;
}

/**
 * Deletes an image that nothing shows any more, as far as this service can tell at once: mail that was
 * accepted and older versions may show it all the same, so that its address serves it for a while. With
 * `force` any is gone at once.
 */
export async function deleteAsset(
  { database, uses, images }: AssetCommands,
  { caller, params: { id }, query: { force = false }, now }: Call<{ readonly id: string }, DeleteAssetQuery>,
): Promise<null | Failure> {
  const { workspaceId } = caller;
  const row = await readAsset(database, workspaceId, id, force);
  if (!row) return NO_ASSET;
  const found = await findUses(database, workspaceId, [row.file], uses);
  const isLive = row.livemode || found.some((use) => use.livemode);
  if (isLive && !caller.livemode) return LIVE;
  if (!force) {
    const use = found.find((each) => each.livemode === caller.livemode);
    if (use) return stillShown(`The ${use.type} “${use.name}” shows the image.`);
    const [other] = found;
    if (other) return stillShown(`A ${other.type} of the test environment shows the image.`);
    if (await hideAsset(database, workspaceId, id, now)) return null;
    return (await readAsset(database, workspaceId, id)) ? FULL : null;
  }
  await deleteAssetRow(database, workspaceId, id);
  images.forget(row.file);
  return null;
}

const stillShown = (message: string): Failure =>
  new Failure('CONFLICT', message, { suggestion: 'Use force=true to delete it nevertheless.' });
