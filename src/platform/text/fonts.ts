/**
 * Fonts that computers and phones have, each with those that take its place elsewhere: a message loads no
 * font, so no server learns that it is read. No name has quotes, which CSS does not need (CSS Fonts 4, 2.1):
 * so escaping changes no letter of a stack, and a style element, which reads no entities, and an attribute of
 * either quote take the same text.
 */
export const FONTS = {
  system: 'Segoe UI, Roboto, Helvetica, Arial, sans-serif',
  arial: 'Arial, Helvetica, sans-serif',
  verdana: 'Verdana, Geneva, sans-serif',
  tahoma: 'Tahoma, Geneva, sans-serif',
  trebuchet: 'Trebuchet MS, Helvetica, sans-serif',
  georgia: 'Georgia, Times, serif',
  times: 'Times New Roman, Times, serif',
  courier: 'Courier New, Courier, monospace',
} as const;

/** The name of a font, by which a workspace states it. */
export type FontName = keyof typeof FONTS;

export const FONT_NAMES = Object.keys(FONTS) as readonly FontName[];

/** The words for a font in forms. */
export const FONT_TITLES: Readonly<Record<FontName, string>> = {
  system: 'System font',
  arial: 'Arial',
  verdana: 'Verdana',
  tahoma: 'Tahoma',
  trebuchet: 'Trebuchet',
  georgia: 'Georgia',
  times: 'Times',
  courier: 'Courier',
};

/** The stack of a font; null without one. */
export const stackOf = (font: FontName | null): string | null => (font === null ? null : FONTS[font]);
