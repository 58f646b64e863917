import type { Asset } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';

/** The accepted types, as `accept` of an input. */
export const ACCEPTED = 'image/png,image/jpeg,image/gif,image/webp';
/** The service refuses larger files; the reader of a message on a telephone waits for much smaller ones. */
const LARGEST = 5_242_880;

/** Uploads image files one after the other; `onDone` gets each that was stored. */
export function useUpload(onDone: (asset: Asset) => void = () => {}) {
  const create = useChange('POST /assets');
  const store = (file: File): Promise<Asset> =>
    create.mutateAsync({ body: file, query: { filename: nameOf(file) } });
  const upload = async (files: readonly File[]) => {
    const refused: string[] = [];
    for (const file of files) {
      if (file.size > LARGEST) {
        refused.push(`${file.name} is larger than 5 MiB. Save it smaller, and try again.`);
        continue;
      }
      try {
        onDone(await store(file));
      } catch (error) {
        refused.push(`${file.name}: ${reasonOf(error)}`);
      }
    }
    const stored = files.length - refused.length;
    if (stored > 0) toast(stored === 1 ? 'Image uploaded' : `${stored} images uploaded`);
    for (const text of refused) toastProblem(new Error(text));
  };
  return { upload, store, isPending: create.isPending };
}

const reasonOf = (error: unknown): string =>
  (error instanceof RequestError && error.details[0]?.message) || (error as Error).message;

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

/** The path of an image on this service, which shows it whatever PUBLIC_URL says. */
export const pathOf = ({ url }: Pick<Asset, 'url'>): string => new URL(url, location.origin).pathname;
