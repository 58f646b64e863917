/**
 * The paths of the built files inside the executable; null from source. The build puts a module in the place
 * of this one (scripts/build.ts).
 */
export const embeddedPacks: { readonly dashboard: string; readonly reference: string } | null = null;
