import type { Asset } from '../../../../../client/operations.ts';

/** The path of an image on this service, which shows it whatever PUBLIC_URL says. */
export const pathOf = ({ url }: Pick<Asset, 'url'>): string => new URL(url, location.origin).pathname;

/** Messages are 600 pixels wide in most programs. */
export const WIDEST = 600;
const QUALITY = 0.85;

/**
 * A wide image in the width of a message, for screens with one pixel per point; null where there is none that
 * is smaller. A GIF may be animated, which its copy would not be, and programs that read `srcset` are not all
 * that show WebP.
 */
export async function smallSize(image: Asset): Promise<File | null> {
  const { contentType, filename, width, height, size } = image;
  if (width <= WIDEST || (contentType !== 'image/png' && contentType !== 'image/jpeg')) return null;
  const response = await fetch(pathOf(image));
  if (!response.ok) return null;
  const bitmap = await createImageBitmap(await response.blob(), {
    resizeWidth: WIDEST,
    resizeHeight: Math.max(1, Math.round((height * WIDEST) / width)),
    resizeQuality: 'high',
  });
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  const content = await new Promise<Blob | null>((done) => canvas.toBlob(done, contentType, QUALITY));
  if (!content || content.type !== contentType || content.size >= size) return null;
  const name = filename.replace(/(\.\w{1,5})?$/, (end) => `-${WIDEST}${end}`);
  return new File([content], name.slice(-255), { type: contentType });
}
