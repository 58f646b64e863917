/** A colour as workspaces state it, such as `#0f766e`. */
const COLOUR = /^#[0-9a-f]{6}$/i;

/** The colour of a workspace that has chosen none. */
export const USUAL_COLOUR = '#0f766e';

/** A part of an sRGB colour, from 0 to 1, as an amount of light. */
const linear = (part: number): number => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

/** Relative luminance (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(colour.slice(at, at + 2), 16) / 255),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Of black and white the one that is read on the colour: the better of both has a contrast of 4.5 on every
 * colour.
 */
export const inkOn = (colour: string): string => (luminance(colour) > 0.179 ? '#000000' : '#ffffff');

/** The colour where it is one, else the other. */
export const colourOr = (colour: string | null | undefined, usual: string): string =>
  colour && COLOUR.test(colour) ? colour : usual;
