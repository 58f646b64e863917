/** The most columns of a line, where its parts allow it. */
const WIDTH = 110;
const STEP = 2;

/** A word, a text in quotes or an operator; or a pair of brackets with its content. */
interface Piece {
  readonly text: string;
  /** A blank precedes it, so that a line may end there. */
  readonly isApart: boolean;
  readonly inside: readonly Piece[] | null;
}

const TOKEN = /\s+|'(?:[^']|'')*'|"[^"]*"|[()]|,|[\w$.:[\]@]+|[^\s\w'"(),$.:[\]@]+/g;

/** Words that begin a line where their clause is too long for one. */
const CLAUSES =
  /^(?:with|select|from|where|group|order|limit|returning|insert|update|delete|set|union|left|cross|join|values|for|offset)$/;
/** Words after which one of them begins no clause. */
const BINDING = /^(?:for|do|distinct|left|cross|lateral|all|key)$/;

/**
 * Breaks the SQL of a statement into lines for readers: a CTE after the other, a clause a line. Only blanks
 * change.
 */
export const formatSql = (sql: string): string => clauses(piecesOf(sql), 0).join('\n');

function piecesOf(sql: string): readonly Piece[] {
  const open: { readonly pieces: Piece[]; readonly isApart: boolean }[] = [{ pieces: [], isApart: false }];
  let isApart = false;
  for (const [token] of sql.matchAll(TOKEN)) {
    if (/^\s/.test(token)) {
      isApart = true;
      continue;
    }
    if (token === '(') open.push({ pieces: [], isApart });
    else if (token === ')') {
      const group = open.pop();
      if (!group || open.length === 0) throw new Error(`A bracket is closed that was not opened: ${sql}`);
      const text = `(${flat(group.pieces)})`;
      open.at(-1)?.pieces.push({ text, isApart: group.isApart, inside: group.pieces });
    } else open.at(-1)?.pieces.push({ text: token, isApart, inside: null });
    isApart = false;
  }
  const [whole, unclosed] = open;
  if (!whole || unclosed) throw new Error(`A bracket is not closed: ${sql}`);
  return whole.pieces;
}

const flat = (pieces: readonly Piece[]): string =>
  pieces.map(({ text, isApart }, index) => (isApart && index > 0 ? ` ${text}` : text)).join('');

const fits = (text: string, indent: number): boolean => indent + text.length <= WIDTH;

/** Pieces in one line; or a line for each clause, as many as it takes. */
function clauses(pieces: readonly Piece[], indent: number): string[] {
  const text = flat(pieces);
  if (fits(text, indent) && pieces[0]?.text !== 'with') return [' '.repeat(indent) + text];
  const found: Piece[][] = [];
  for (const [index, piece] of pieces.entries()) {
    const isClause =
      (CLAUSES.test(piece.text) && !BINDING.test(pieces[index - 1]?.text ?? '')) ||
      (piece.text === 'on' && pieces[index + 1]?.text === 'conflict');
    if (isClause || found.length === 0) found.push([piece]);
    else found.at(-1)?.push(piece);
  }
  return found.flatMap((clause) =>
    clause[0]?.text === 'with' ? expressions(clause, indent) : filled(clause, indent),
  );
}

/** The CTEs of a statement, one after the other. */
function expressions(pieces: readonly Piece[], indent: number): string[] {
  const lines: string[] = [];
  let expression: Piece[] = [];
  for (const piece of pieces) {
    expression.push(piece);
    if (piece.text !== ',') continue;
    lines.push(...filled(expression, indent));
    expression = [];
  }
  return [...lines, ...filled(expression, indent)];
}

/**
 * Lines that are filled item by item, and word by word where an item is too long. Long brackets are opened.
 */
function filled(pieces: readonly Piece[], indent: number): string[] {
  const lines: string[] = [];
  let line = ' '.repeat(indent);
  let isFresh = true;
  const wrap = (): void => {
    lines.push(line);
    line = ' '.repeat(indent + STEP);
    isFresh = true;
  };
  for (const [index, { text, isApart, inside }] of pieces.entries()) {
    if (isApart && !isFresh) {
      const unit = beginsItem(pieces, index) ? itemAt(pieces, index) : wordAt(pieces, index);
      if (!fits(`${line} ${unit}`, 0) && fits(unit, indent + STEP)) wrap();
    }
    const blank = isApart && !isFresh ? ' ' : '';
    // A comma stays with what it follows.
    const behind = pieces[index + 1]?.text === ',' ? 1 : 0;
    if (fits(line + blank + text, behind)) line += blank + text;
    else if (inside && !(isApart && fits(text, indent + STEP))) {
      lines.push(`${line}${blank}(`, ...clauses(inside, indent + STEP));
      line = `${' '.repeat(indent)})`;
    } else {
      if (isApart && !isFresh) wrap();
      line += isFresh ? text : blank + text;
    }
    isFresh = false;
  }
  return [...lines, line];
}

/** An item of a list follows a comma, and one of a condition begins with its word. */
const CONDITION = /^(?:and|or|when|then|else)$/;
const beginsItem = (pieces: readonly Piece[], index: number): boolean =>
  pieces[index - 1]?.text === ',' || CONDITION.test(pieces[index]?.text ?? '');

/** The text of an item up to the next one. */
function itemAt(pieces: readonly Piece[], from: number): string {
  const length = pieces.slice(from + 1).findIndex((_, index) => beginsItem(pieces, from + 1 + index));
  return flat(length < 0 ? pieces.slice(from) : pieces.slice(from, from + 1 + length));
}

/** A word with the brackets of its arguments. */
function wordAt(pieces: readonly Piece[], from: number): string {
  const length = pieces.slice(from + 1).findIndex(({ isApart }) => isApart);
  return flat(length < 0 ? pieces.slice(from) : pieces.slice(from, from + 1 + length));
}
