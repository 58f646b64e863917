/** A line break as the parser takes it. */
const LINE_BREAK = /\r\n?|\n/;

/** The line below the head of a table, which gives the number of columns. */
const DELIMITERS = /^[-:| \t]+$/;

/** The beginning of code, which a line with the same marks ends. */
const FENCE = /^(?:`{3,}(?=[^`]*$)|~{3,})/;

/** The markers of lists that a table may begin in. */
const ITEMS = /^(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)+/;

/** Other blocks, which end a table without an empty line: items, headings, html and rules. */
const OTHER_BLOCK = /^(?:[-+*][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|<|([-*_])(?:[ \t]*\1){2,}$)/;

/**
 * The number of cells that the parser will make of the tables of a markdown. It fills short rows up to the
 * width of their table, so that 4 KB can be 65,000 cells. Only indented code that follows a table without an
 * empty line is taken for rows of it.
 */
export function countCells(markdown: string): number {
  let cells = 0;
  let columns = 0;
  let fence: string | null = null;
  let above = '';
  for (const whole of markdown.split(LINE_BREAK)) {
    const line = whole.replace(/^[ \t>]+/, '').trimEnd();
    if (fence !== null) {
      if (line.startsWith(fence)) fence = null;
      continue;
    }
    fence = FENCE.exec(line)?.[0] ?? null;
    if (fence !== null || line === '') columns = 0;
    else if (columns === 0) columns = columnsOf(above, line);
    else if (OTHER_BLOCK.test(line)) columns = 0;
    // That of the delimiters counts for the head.
    cells += columns;
    above = line;
  }
  return cells;
}

/** The columns of a table that begins with these two lines; none where they begin none. */
function columnsOf(head: string, delimiters: string): number {
  if (!DELIMITERS.test(delimiters) || !delimiters.includes('-')) return 0;
  if (!delimiters.includes('|') || !head.includes('|')) return 0;
  const columns = widthOf(delimiters);
  return widthOf(head.replace(ITEMS, '')) === columns ? columns : 0;
}

function widthOf(row: string): number {
  const dividers = row.replaceAll('\\|', '-');
  return dividers.split('|').length - Number(dividers.startsWith('|')) - Number(dividers.endsWith('|'));
}
