import { boundedParser, ParserLimit, type ParserLimits } from '../../html/bounded-parser.ts';

/** The limits of an XML document. The largest report that is taken has 800,000 tags, at a depth of six. */
const LIMITS: ParserLimits = { deepest: 20, steps: 100_000_000 };
const LONGEST_TEXT = 1_024;
/** Signs that are written as they are. The largest report may have five in each of its records. */
const MOST_SIGNS = 100_000;

/** A document that is refused, since it has a DTD. */
class RefusedDocument extends Error {}

/** Called with the path of an element below the root, without prefixes and in lower case, and its text. */
export type OnText = (path: string, text: string) => void;

/**
 * Servers write addresses and links as they are, so that a `<` within them begins no tag. A tag has a name,
 * and ends before the next one begins.
 */
const NO_TAG = /<(?!\/?[a-z_][\w:.-]{0,99}(?:\s[^<>]{0,20000})?\/?>|[?!])/gi;

/**
 * Reads XML as a stream, and returns false for a document that is refused. htmlparser2 knows the five
 * entities of XML and character references, and no others, so that nothing expands. It goes on after a
 * missing or a wrong tag, which reports of real servers have. `root` is the element at which paths begin,
 * wherever it is.
 */
export function readXml(xml: string, root: string, onText: OnText, onEnd: (path: string) => void): boolean {
  const open: string[] = [];
  let isIn = false;
  let text = '';
  const path = () => open.join('/');
  const parser = boundedParser(
    {
      onopentag(name) {
        const local = localName(name);
        if (!isIn) {
          isIn = local === root;
          return;
        }
        open.push(local);
        text = '';
      },
      ontext(piece) {
        if (isIn && text.length < LONGEST_TEXT) text += piece.slice(0, LONGEST_TEXT);
      },
      onclosetag(name) {
        if (!isIn) return;
        if (open.length === 0 || (localName(name) === root && open.at(-1) !== root)) {
          isIn = false;
          return;
        }
        onText(path(), text.trim());
        onEnd(path());
        open.pop();
        text = '';
      },
      onprocessinginstruction(name) {
        if (name.startsWith('!')) throw new RefusedDocument();
      },
    },
    { xmlMode: true, decodeEntities: true },
    LIMITS,
  );
  try {
    const tags = withoutSigns(xml);
    // In pieces: a refused document is not parsed to its end.
    for (let at = 0; at < tags.length; at += 65_536) parser.write(tags.slice(at, at + 65_536));
    parser.end();
    return true;
  } catch (reason) {
    if (reason instanceof RefusedDocument || reason instanceof ParserLimit) return false;
    throw reason;
  }
}

/** The XML with each `<` that begins no tag as a character reference. */
function withoutSigns(xml: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { index } of xml.matchAll(NO_TAG)) {
    if (pieces.length === MOST_SIGNS) throw new ParserLimit('Too many signs are written as they are.');
    pieces.push(xml.slice(from, index));
    from = index + 1;
  }
  return from === 0 ? xml : [...pieces, xml.slice(from)].join('&lt;');
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();
