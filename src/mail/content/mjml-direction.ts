import type { Direction } from '../../platform/text/language.ts';

/**
 * The elements for which MJML writes `direction:ltr` by default. That wins over the `dir` of the document.
 */
const WITH_DIRECTION = ['mj-wrapper', 'mj-section', 'mj-group', 'mj-column'];
/** The elements whose text begins at the left by default. */
const WITH_ALIGN = ['mj-text', 'mj-table'];

/**
 * MJML for the head by which content of that direction runs in it; empty for the direction that MJML takes by
 * default. `decided`: the attributes that the author sets for all elements. A default for one element would
 * win over these.
 */
export function directionDefaults(direction: Direction, decided: ReadonlySet<string> = new Set()): string {
  if (direction === 'ltr') return '';
  const defaults = [
    ...(decided.has('direction') ? [] : WITH_DIRECTION.map((name) => `<${name} direction="rtl" />`)),
    ...(decided.has('align') ? [] : WITH_ALIGN.map((name) => `<${name} align="right" />`)),
  ];
  return `<mj-attributes>${defaults.join('')}</mj-attributes>`;
}
