import { Parser } from 'htmlparser2';

/** One page of the objects under a prefix. */
export interface Listing {
  readonly keys: readonly string[];
  /** With a delimiter: what the names below begin with, up to it. */
  readonly prefixes: readonly string[];
  /** The start of the next page; null behind the last one. */
  readonly next: string | null;
}

/** Reads the answer to ListObjectsV2; null where it is none. */
export function readListing(xml: string): Listing | null {
  const keys: string[] = [];
  const prefixes: string[] = [];
  const path: string[] = [];
  let next = '';
  let isListing = false;
  let isWhole = false;
  let text = '';
  const parser = new Parser(
    {
      onopentag(name) {
        path.push(name);
        text = '';
        if (path.length === 1) isListing = name === 'ListBucketResult';
      },
      ontext(piece) {
        text += piece;
      },
      onclosetag(name, isImplied) {
        const at = path.slice(1).join('/');
        path.pop();
        if (at === 'Contents/Key') keys.push(text);
        else if (at === 'CommonPrefixes/Prefix') prefixes.push(text);
        else if (at === 'NextContinuationToken') next = text;
        else if (name === 'ListBucketResult') isWhole = !isImplied;
        text = '';
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return isListing && isWhole ? { keys, prefixes, next: next === '' ? null : next } : null;
}

/** The code of an error, such as `NoSuchKey`; empty where the answer names none. */
export const errorCode = (xml: string): string => /<Code>(\w{1,100})<\/Code>/.exec(xml)?.[1] ?? '';
