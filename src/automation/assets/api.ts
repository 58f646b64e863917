import type { AssetUser } from './model.ts';

/**
 * A resource whose content can show images. Its module states this, so that an image that is still used is not deleted by mistake.
 */
export interface AssetUse {
  readonly type: AssetUser;
  /**
   * SQL of the uses in the workspace `$1` of the files `$2`, with the columns id, name, livemode and file. The function `images_in` has
   * an index for each column of content.
   */
  readonly uses: string;
}
