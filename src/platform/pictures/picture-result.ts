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
export const mostOf = { frames: 500, pixels: 250_000_000 } as const;

/** Refuses an animation with too many frames, or too many pixels in all of them; null for any other. */
export function problemOfAnimation(
  format: string,
  frames: readonly number[],
): { readonly problem: string } | null {
  if (frames.length > mostOf.frames)
    return { problem: `The ${format} has more than ${mostOf.frames} frames. Leave some of them out.` };
  if (frames.length > 1 && frames.reduce((sum, pixels) => sum + pixels, 0) > mostOf.pixels)
    return {
      problem: `The frames of the ${format} have more than ${mostOf.pixels / 1e6} million pixels together. Make it smaller or shorter.`,
    };
  return null;
}
