import type { Asset } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import type { Picture } from '../visual/source/new-blocks.ts';
import { smallSize } from './small-size.ts';

/** The accepted types, as `accept` of an input. */
export const ACCEPTED = 'image/png,image/jpeg,image/gif,image/webp';
/** The service refuses larger files; the reader of a message on a telephone waits for much smaller ones. */
const LARGEST = 5_242_880;

/** Uploads image files one after the other; `onDone` gets each that was stored. */
export function useUpload(onDone: (asset: Asset) => void = () => {}) {
  const create = useChange('POST /assets');
  const store = async (file: File): Promise<Asset> => {
    if (file.size > LARGEST) throw new Error('It is larger than 5 MiB. Save it smaller, and try again.');
    return create.mutateAsync({ body: file, query: { filename: nameOf(file) } });
  };
  /**
   * The image with a small size for screens with one pixel per point, where there is one: without it nothing
   * is missing.
   */
  const withSizes = async (asset: Asset): Promise<Asset & Picture> => {
    const half = await smallSize(asset).catch(() => null);
    const small = half && (await store(half).catch(() => null));
    return { ...asset, srcset: small && `${small.url} 1x, ${asset.url} 2x` };
  };
  const upload = async (files: readonly File[]) => {
    const refused: string[] = [];
    for (const file of files) {
      try {
        onDone(await store(file));
      } catch (error) {
        refused.push(refusalOf(file, error));
      }
    }
    const stored = files.length - refused.length;
    if (stored > 0) toast(stored === 1 ? 'Image uploaded' : `${stored} images uploaded`);
    for (const text of refused) toastProblem(new Error(text));
  };
  return { upload, store, withSizes, isPending: create.isPending };
}

/** The reason for which a file was not stored, after its name. */
export const refusalOf = ({ name }: File, error: unknown): string =>
  `${name}: ${(error instanceof RequestError && error.details[0]?.message) || (error as Error).message}`;

/** The name without what the service refuses in it. Pasted images are all called `image.png`. */
const nameOf = ({ name }: File): string =>
  name
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
    .replace(/[\u0000-\u001f\u007f/\\]/g, ' ')
    .trim()
    .slice(0, 255) || 'image';

/** The image files of a paste or a drop. */
export const imagesIn = (items: DataTransfer | null): readonly File[] =>
  [...(items?.files ?? [])].filter(({ type }) => ACCEPTED.split(',').includes(type));
