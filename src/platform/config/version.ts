import { version } from '../../../package.json' with { type: 'json' };

/** The commit that the executable was built of, put in by scripts/build.ts; from source there is none. */
declare const BUILT_COMMIT: string | undefined;

/** The version of this Posthorn. */
export const VERSION: string = version;

const built = typeof BUILT_COMMIT === 'undefined' ? 'from source' : BUILT_COMMIT;

/** The version with the commit, as `posthorn version` prints it. */
export const VERSION_TEXT = `${version} (${built})`;
