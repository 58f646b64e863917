import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import type { BodyStore } from '../../platform/bodies/body-store.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { putAway } from './octets.ts';
import { moveOutside, nextInside } from './store.ts';

export interface AssetMoverDeps extends DutyDeps {
  readonly bodies: BodyStore;
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * So many failures in a row are those of the store; fewer may be those of an image that is too large for its
 * line.
 */
const MOST_FAILURES = 3;

/**
 * Moves the octets of images that were stored before there was a BODY_STORE into it, one after the other.
 * They are there before the row refers to them, and leave the database in the statement that has the row
 * refer to them. Content of mail is not moved: it ends by age.
 */
export const assetMover = ({ database, bodies, logger }: AssetMoverDeps): Duty => ({
  name: 'assetMover',
  pattern: '0 29 * * * *',
  async run(stop) {
    let moved = 0;
    let failures = 0;
    let failed: unknown = null;
    for (let after = ''; !stop?.aborted; ) {
      const image = await nextInside(database, after);
      if (!image) break;
      after = image.id;
      try {
        const outside = await putAway(bodies, image.workspaceId, image.content);
        if (await moveOutside(database, image, outside)) moved++;
        failures = 0;
      } catch (error) {
        failed = error;
        if (++failures === MOST_FAILURES) break;
      }
    }
    if (moved > 0) logger.info({ images: moved }, 'Moved images into BODY_STORE');
    if (failed !== null) throw failed;
  },
});
