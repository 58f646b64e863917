import type { Pack } from '../../src/web/dashboard/pack.ts';
import { kilobytesOf } from './pack-files.ts';

/** One script of a page. */
export interface Chunk {
  readonly name: string;
  readonly code: Uint8Array;
  /** The source that it is loaded for; null for parts that several sources share. */
  readonly opens: string | null;
  /** The scripts that have to be there before it runs. */
  readonly imports: readonly string[];
}

/** The size of what a browser loads for a page of the application, in kilobytes of brotli. */
export interface PageSize {
  readonly name: string;
  readonly kilobytes: number;
}

/**
 * The most that the first page may be, with React, styles and document, and what each further one may add to
 * it.
 */
const FIRST = 150;
const FURTHER = 40;
/** Editors and canvases are large, and load separately when a person opens one. */
const EDITOR = 200;
const OVERVIEW = 'application/pages/overview/page.tsx';

/** The sizes of all pages. @throws when one has outgrown its bound */
export function sizesOf(chunks: readonly [Chunk, ...Chunk[]], css: string, pack: Pack): readonly PageSize[] {
  const sizeOf = (names: Iterable<string>): number => kilobytesOf(pack, names);
  const [entry] = chunks;
  const overview = chunks.find(({ opens }) => opens === OVERVIEW);
  const first = new Set([css, ...withImports(chunks, [entry.name, ...(overview ? [overview.name] : [])])]);
  const sizes = [
    { name: 'first page', kilobytes: sizeOf(first), most: FIRST },
    ...chunks.flatMap((chunk) => {
      if (chunk.opens === null || chunk === entry || chunk === overview) return [];
      const more = withImports(chunks, [chunk.name]).difference(first);
      const most = /-(editor|canvas)\.tsx$/.test(chunk.opens) ? EDITOR : FURTHER;
      return [{ name: chunk.opens.replace('application/', ''), kilobytes: sizeOf(more), most }];
    }),
  ];
  const tooLarge = sizes.filter(({ kilobytes, most }) => kilobytes > most);
  if (tooLarge.length > 0) {
    const told = tooLarge.map(
      ({ name, kilobytes, most }) => `${name}: ${kilobytes.toFixed(1)} kB of ${most}`,
    );
    throw new Error(`These pages exceed their limits, compressed: ${told.join(', ')}.`);
  }
  return sizes;
}

/** Scripts and all that they import, once each. */
export function withImports(
  chunks: readonly Chunk[],
  names: readonly string[],
  seen = new Set<string>(),
): Set<string> {
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    withImports(chunks, chunks.find((chunk) => chunk.name === name)?.imports ?? [], seen);
  }
  return seen;
}
