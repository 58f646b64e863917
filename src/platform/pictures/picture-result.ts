/** A checked image without invisible data (texts, thumbnails, locations), or the reason for refusing it. */
export type PictureResult =
  | {
      /** In pixels, as it is shown. */
      readonly width: number;
      readonly height: number;
      readonly content: Uint8Array<ArrayBuffer>;
    }
  | { readonly problem: string };

/** The limits of animations: a mail program decodes every frame, however small it is in the file. */
const MOST_FRAMES = 500;
const MOST_FRAME_PIXELS = 250_000_000;

/** Refuses an animation with too many frames, or too many pixels in all of them; null for any other. */
export function problemOfAnimation(
  format: string,
  frames: readonly number[],
): { readonly problem: string } | null {
  if (frames.length > MOST_FRAMES)
    return { problem: `The ${format} has more than ${MOST_FRAMES} frames. Leave some of them out.` };
  if (frames.length > 1 && frames.reduce((sum, pixels) => sum + pixels, 0) > MOST_FRAME_PIXELS)
    return {
      problem: `The frames of the ${format} have more than ${MOST_FRAME_PIXELS / 1e6} million pixels together. Make it smaller or shorter.`,
    };
  return null;
}
