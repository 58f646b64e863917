import type { Principal } from '../../http/auth/principal.ts';
import { listById } from '../../http/lists/list.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { type Failure, notFound } from '../../platform/errors/failure.ts';
import type { AssetUse } from './api.ts';
import { type AssetQuery, type AssetView, IMAGE_PATH } from './model.ts';
import { type AssetRow, type FoundUse, findUses, readAsset, readAssets } from './store.ts';

/** The services that reading images calls. */
export interface AssetReader {
  readonly database: Database;
  readonly reads: Reads;
  readonly publicUrl: string;
  readonly uses: readonly AssetUse[];
}

export const NO_ASSET = notFound('asset');

/** The answer for an image. */
export const assetView = (
  { id, filename, contentType, width, height, size, file, lastShownOn, createdAt }: AssetRow,
  publicUrl: string,
  uses: readonly FoundUse[],
  { livemode }: Pick<Principal, 'livemode'>,
): AssetView => ({
  id,
  filename,
  contentType,
  width,
  height,
  size,
  url: `${publicUrl}${IMAGE_PATH}${file}`,
  usedBy: uses
    // A key of one environment learns nothing of the other.
    .filter((use) => use.file === file && use.livemode === livemode)
    .map(({ type, id: user, name }) => ({ type, id: user, name })),
  lastShownOn,
  createdAt: createdAt.toISOString(),
});

/** The images of a workspace, newest first. */
export async function listAssets(
  { reads, publicUrl, uses }: AssetReader,
  call: Call<unknown, AssetQuery>,
): Promise<Page<AssetView> | Failure> {
  const { workspaceId } = call.caller;
  let found: readonly FoundUse[] = [];
  return listById(call, {
    list: 'assets',
    prefix: 'ast',
    rows: async (range, limit) => {
      const rows = await readAssets(reads, workspaceId, range, limit);
      found = await findUses(
        reads,
        workspaceId,
        rows.map(({ file }) => file),
        uses,
      );
      return rows;
    },
    item: (row) => assetView(row, publicUrl, found, call.caller),
  });
}

/** One image. */
export async function assetDetail(
  { reads, publicUrl, uses }: AssetReader,
  { caller, params }: Pick<Call<{ readonly id: string }>, 'caller' | 'params'>,
): Promise<AssetView | Failure> {
  const row = await readAsset(reads, caller.workspaceId, params.id);
  if (!row) return NO_ASSET;
  return assetView(row, publicUrl, await findUses(reads, caller.workspaceId, [row.file], uses), caller);
}
