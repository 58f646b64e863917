/**
 * The elements around a partial in MJML, by the one that it begins with, so that it can be seen by itself.
 */
export function frameOf(mjml: string): { readonly before: string; readonly after: string } {
  const [, first = 'text'] = /^\s*<mj-([a-z]+)/.exec(withoutLeadingComments(mjml)) ?? [];
  const around = OUTER.slice(0, OUTER.findIndex(([, within]) => within.includes(first)) + 1 || undefined);
  const names = around.map(([name]) => name);
  return {
    before: names.map((name) => `<${name}>`).join(''),
    after: names
      .toReversed()
      .map((name) => `</${name}>`)
      .join(''),
  };
}

/** A source from its first character that is no comment, in time that grows with its length alone. */
function withoutLeadingComments(mjml: string): string {
  let at = 0;
  for (;;) {
    while (/\s/.test(mjml[at] ?? '')) at++;
    if (!mjml.startsWith('<!--', at)) return mjml.slice(at);
    const end = mjml.indexOf('-->', at + 4);
    if (end === -1) return '';
    at = end + 3;
  }
}

/** Elements of MJML from the outermost on, each with those that may be in it. */
const OUTER: readonly [name: string, within: readonly string[]][] = [
  ['mjml', ['head', 'body']],
  ['mj-body', ['section', 'wrapper', 'hero', 'raw']],
  ['mj-section', ['column', 'group']],
  [
    'mj-column',
    ['text', 'button', 'image', 'divider', 'spacer', 'table', 'social', 'navbar', 'accordion', 'carousel'],
  ],
];
