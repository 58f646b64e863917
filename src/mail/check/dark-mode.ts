import { VOID } from '../html/open-elements.ts';
import type { FoundProblem } from './codes.ts';
import { isDark } from './colours.ts';
import { isHeld, type SourceReading, type SourceTag } from './source-tags.ts';
import { declarations } from './style-facts.ts';

const SCHEME = /\bcolor-scheme\s{0,20}:/i;
const SCHEME_META: ReadonlySet<string> = new Set(['color-scheme', 'supported-color-schemes']);

interface Open {
  readonly name: string;
  readonly hasGround: boolean;
}

/** The problems of a message in programs that show it in dark colours. */
export function darkProblems({ tags, sheets }: SourceReading): FoundProblem[] {
  const says =
    sheets.some(({ css }) => SCHEME.test(css)) ||
    tags.some(
      ({ name, attributes }) =>
        (name === 'meta' && SCHEME_META.has((attributes.get('name') ?? '').toLowerCase())) ||
        SCHEME.test(attributes.get('style') ?? ''),
    );
  const problems: FoundProblem[] = says
    ? []
    : [
        {
          code: 'no_dark_mode',
          message:
            'Nothing says how it looks in dark mode, so that each program changes its colours by its own rules. Look at it in dark mode, and write <meta name="color-scheme" content="light dark"> into its head.',
          at: null,
        },
      ];
  const open: Open[] = [];
  /** The number of open elements of each name: looking for one that is not open would take n². */
  const counts = new Map<string, number>();
  const count = (name: string, more: number) => counts.set(name, (counts.get(name) ?? 0) + more);
  const close = (name: string): void => {
    for (let last = ''; (counts.get(name) ?? 0) > 0 && last !== name; count(last, -1))
      last = open.pop()?.name ?? '';
  };
  for (const tag of tags) {
    if (tag.isEnd) {
      close(tag.name);
      continue;
    }
    const hasGround = (open.at(-1)?.hasGround ?? false) || fixesGround(tag);
    const colour = colourOf(tag);
    if (colour !== null && !hasGround && isDark(colour))
      problems.push({
        code: 'dark_text',
        message: `This text is always ${colour.trim().slice(0, 40)}, and nothing around it fixes a ground: a program that darkens the ground alone makes it unreadable. Give it or an element around it a background-color, or leave out the colour.`,
        at: tag.at,
      });
    if (tag.endsItself || VOID.has(tag.name)) continue;
    open.push({ name: tag.name, hasGround });
    count(tag.name, 1);
  }
  return problems;
}

function fixesGround({ attributes }: SourceTag): boolean {
  if (attributes.has('bgcolor') || attributes.has('background') || attributes.has('class')) return true;
  const style = attributes.get('style') ?? '';
  // A value, or a rule of a style sheet for its class, may fix one.
  return isHeld(style) || /(?:^|[;\s])background(?:-color|-image)?\s{0,20}:/i.test(style);
}

function colourOf({ name, attributes }: SourceTag): string | null {
  if (name === 'font' && attributes.has('color')) return attributes.get('color') ?? null;
  return (
    declarations(attributes.get('style') ?? '').find(({ property }) => property === 'color')?.value ?? null
  );
}
