import type { AssetUser } from './model.ts';

/**
 * A resource whose content can show images. Its module states this, so that an image that is still used is not deleted by mistake.
 * The relation is read whole, so that it should have one row a resource.
 */
export interface AssetUse {
  readonly type: AssetUser;
  /** SQL of a relation with the columns id, name and content (text), of the workspace `$1`. */
  readonly contents: string;
}
