import { version } from '../../package.json' with { type: 'json' };

/** The version of this Posthorn. */
export const VERSION: string = version;
