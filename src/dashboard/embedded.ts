/**
 * The path of the built dashboard inside the executable; null from source. The build puts a module in the place of this one
 * (scripts/build.ts).
 */
export const embeddedPack: string | null = null;
