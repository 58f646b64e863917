/**
 * The path of a packed data directory that is ready to use; null from source. The build puts a module in the place of
 * this one whose path lies in the executable (scripts/build.ts).
 */
export const preparedDataDirectory: string | null = null;
