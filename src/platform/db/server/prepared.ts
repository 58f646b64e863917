/**
 * The path of a packed data directory that is ready to use; null from source. The build replaces this module
 * by one with a path inside the executable (scripts/build.ts).
 */
export const preparedDataDirectory: string | null = null;
