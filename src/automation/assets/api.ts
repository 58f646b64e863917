import type { AssetUser } from './model.ts';

/**
 * A resource whose content can show images. Its module states this, so that an image that is still used is
 * not deleted by mistake.
 */
export interface AssetUse {
  readonly type: AssetUser;
  /**
   * SQL of the uses in the workspace `$1` of the files `$2`, with the columns id, name, livemode and file.
   * The function `images_in` has an index for each column of content.
   */
  readonly uses: string;
  /**
   * A condition on an asset `a`: something shows it that may be sent at some time, also without being a use
   * now.
   */
  readonly keeps: string;
}

/** The functions that images give to other modules. */
export interface AssetsApi {
  /**
   * The octets of images of this service by their addresses; those that are not stored are left out. @throws
   * UnavailableError
   */
  sizesOf(urls: readonly string[]): Promise<ReadonlyMap<string, number>>;
}
