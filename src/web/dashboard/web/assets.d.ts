/** A guide as text. */
declare module '*.md' {
  const text: string;
  export default text;
}
/** A style sheet as text, for a sheet that a page adds when it is opened. */
declare module '*.css' {
  const text: string;
  export default text;
}

// The types of machines lead to the rules of time zones, which read files of the system. No browser runs
// them.
declare module 'node:fs' {
  export function readFileSync(path: string): Uint8Array;
}
declare module 'node:path' {
  export function join(...parts: readonly string[]): string;
}
