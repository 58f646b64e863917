import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';
import { Type } from '@sinclair/typebox';
import { RawResponse, type Route, route } from '../../http/request/route.ts';
import { isDoneWithin } from '../../platform/async/deadline.ts';
import { notFound } from '../../platform/errors/failure.ts';
import type { FilePack, PackedFile } from './pack.ts';

/** A file's address holds a hash of the whole build. */
const FOR_EVER = { 'cache-control': 'public, max-age=31536000, immutable' };

/**
 * A checkout builds the files at the first request, which on a busy machine may exceed the time of a request.
 */
const BUILDING_MS = 5_000;

/**
 * Answers with a page of built files; while a checkout still builds them, with a page that reloads by itself.
 */
export async function whenBuilt<Pack extends FilePack>(
  opening: Promise<Pack>,
  headers: Readonly<Record<string, string>>,
  answer: (pack: Pack) => RawResponse | Promise<RawResponse>,
): Promise<RawResponse> {
  if (await isDoneWithin(BUILDING_MS, opening)) return answer(await opening);
  return new RawResponse(
    'text/html; charset=utf-8',
    '<!doctype html><meta http-equiv="refresh" content="1"><title>Posthorn</title><p>The page is being built and reloads by itself.',
    { status: 503, headers: { ...headers, 'retry-after': '1' } },
  );
}

/** The route of the built files of a pack. They hold no data, so they need no key. */
export const packedFilesRoute = (path: string, summary: string, open: () => Promise<FilePack>): Route =>
  route(`GET ${path}/:build/:file`, {
    permission: 'public',
    params: { build: { text: 'The build' }, file: { text: 'The name of a built file' } },
    summary,
    response: Type.Unknown(),
    handle: async ({ params, headers }) => {
      const { build, files } = await open();
      const file =
        build === params.build && Object.hasOwn(files, params.file) ? files[params.file] : undefined;
      return file ? packedReply(file, headers, FOR_EVER) : notFound('file');
    },
  });

/** A built file, in the best encoding that the client takes. */
export async function packedReply(
  file: PackedFile,
  headers: Headers,
  more: Readonly<Record<string, string>>,
): Promise<RawResponse> {
  const accepted = headers.get('accept-encoding') ?? '';
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null;
  const content = encoding === 'br' ? bytesOf(file) : await (encoding === 'gzip' ? gzipped : plain)(file);
  return new RawResponse(file.type, content, {
    headers: { vary: 'accept-encoding', ...(encoding !== null && { 'content-encoding': encoding }), ...more },
  });
}

const bytesOf = ({ brotli }: PackedFile): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(brotli, 'base64'));

const plain = async (file: PackedFile): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await promisify(brotliDecompress)(bytesOf(file)));

/**
 * The forms for browsers without brotli, which most have by HTTPS alone: in the executable they took 2.8 MB.
 */
const gzippedOf = new WeakMap<PackedFile, Promise<Uint8Array<ArrayBuffer>>>();

function gzipped(file: PackedFile): Promise<Uint8Array<ArrayBuffer>> {
  const known = gzippedOf.get(file);
  if (known) return known;
  const made = plain(file).then(async (octets) => new Uint8Array(await promisify(gzip)(octets)));
  gzippedOf.set(file, made);
  return made;
}
