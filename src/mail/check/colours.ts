/** The colours whose names authors write for dark text. */
const DARK_NAMES: ReadonlySet<string> = new Set(
  'black darkblue navy midnightblue darkslategray darkslategrey indigo maroon darkgreen darkred'.split(' '),
);
const HEX = /^#([0-9a-f]{3,8})$/;
const RGB = /^rgba?\(\s{0,20}(\d{1,3})[\s,]{1,20}(\d{1,3})[\s,]{1,20}(\d{1,3})/;
/** Below this share of white it cannot be read on a dark ground. */
const DARK = 0.12;

/** True of a colour of CSS that is nearly black. What is not understood is not. */
export function isDark(colour: string): boolean {
  const written = colour.trim().toLowerCase();
  if (DARK_NAMES.has(written)) return true;
  const parts = hexParts(written) ?? RGB.exec(written)?.slice(1).map(Number);
  if (!parts) return false;
  const [red = 0, green = 0, blue = 0] = parts.map((part) => (Math.min(part, 255) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < DARK;
}

function hexParts(colour: string): number[] | null {
  const [, digits] = HEX.exec(colour) ?? [];
  if (digits === undefined || digits.length === 5 || digits.length === 7) return null;
  const isShort = digits.length < 6;
  return [0, 1, 2].map((index) =>
    isShort
      ? Number.parseInt(digits.charAt(index).repeat(2), 16)
      : Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16),
  );
}
