import { decodeWords } from 'postal-mime';
import { seenName } from '../../platform/text/characters.ts';
import { lettersOf, type RawField } from './header-editor.ts';
import { type NamedMailbox, NotSubmittable } from './raw-mail.ts';

const LONGEST_NAME = 256;

const NO_FROM = new NotSubmittable(
  'The message has no From field: add one, such as "From: you@example.com". Neither MAIL FROM nor Sender takes its place (RFC 5322 3.6)',
);
const EMPTY_FROM = new NotSubmittable(
  'The From field is empty: write an address there, such as "From: you@example.com". Flask-Mail leaves it empty where the name of a sender has a comma or an at sign: put such a name in quotation marks',
);
const MALFORMED_FROM = new NotSubmittable(
  'The From field is malformed, and mail programs differ in the author that they show of such a one: write an address like user@example.com, or "Name" <user@example.com>, with a comma between two, and a name that has commas, colons, at signs or brackets in quotation marks',
);

/**
 * The authors that a header names. Sender is not looked at, and stays as it is: it may name another one who
 * hands the message in (RFC 5322 3.6.2), a server may replace it and need not (RFC 6409 8.1), and DMARC
 * proves the domain of From alone (RFC 9989).
 */
export function authorsIn(fields: readonly RawField[]): readonly NamedMailbox[] | NotSubmittable {
  const field = fields.find(({ name }) => name === 'from');
  if (field === undefined) return NO_FROM;
  const value = lettersOf(field);
  if (value === '') return EMPTY_FROM;
  const authors = authorsOf(value);
  return authors === null || authors.length === 0 ? MALFORMED_FROM : authors;
}

/** RFC 5322 3.2.3 with the letters of RFC 6532 3.2. */
const ATEXT = "[\\w!#$%&'*+/=?^`{|}~\\-\\u0080-\\u{10ffff}]";
/**
 * One word of the grammar, or one sign. A phrase may have dots, as in `John Q. Public` (RFC 5322 4.1): each
 * mail program reads them.
 */
const TOKEN = new RegExp(
  `(?<space>[ \\t]+)|(?<quoted>"(?:[^"\\\\\\0\\r\\n]|\\\\[^\\0\\r\\n])*")|(?<atom>(?:${ATEXT}|\\.)+)|(?<sign>[<>,@(])`,
  'uy',
);
const DOT_ATOM = new RegExp(`^${ATEXT}+(?:\\.${ATEXT}+)*$`, 'u');

interface Token {
  readonly kind: 'quoted' | 'atom' | 'sign';
  readonly text: string;
  /** White space or a comment precedes it. */
  readonly isApart: boolean;
}

/** The words of one mailbox, and its last comment. */
interface Words {
  readonly tokens: readonly Token[];
  readonly comment: string;
}

/**
 * The mailboxes of a From field by the grammar of RFC 5322 3.4; null where it is malformed. Mail programs
 * guess in different ways at a malformed one, such as `<a@one.example> <b@two.example>`: one of them would
 * show an author who was not checked. Empty elements between commas (4.4) name no one. A route, and a group
 * (RFC 6854), are refused: some programs take a part of them for the author.
 */
export function authorsOf(value: string): readonly NamedMailbox[] | null {
  const authors: NamedMailbox[] = [];
  let at = 0;
  while (at < value.length) {
    const element = wordsOf(value, at);
    if (element === null) return null;
    at = element.end;
    if (element.tokens.length === 0) continue;
    const author = mailboxOf(element);
    if (author === null) return null;
    authors.push(author);
  }
  return authors;
}

/** The words up to the next comma; null for what is no word. */
function wordsOf(value: string, start: number): (Words & { readonly end: number }) | null {
  const tokens: Token[] = [];
  let comment = '';
  let isApart = false;
  let at = start;
  while (at < value.length) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(value)?.groups;
    if (!groups) return null;
    const { space, quoted, atom, sign } = groups;
    const text = space ?? quoted ?? atom ?? sign ?? '';
    at += text.length;
    if (sign === ',') break;
    if (sign === '(') {
      const end = endOfComment(value, at);
      if (end === -1) return null;
      comment = value.slice(at, end - 1);
      at = end;
    }
    if (space !== undefined || sign === '(') isApart = true;
    else {
      const kind = quoted === undefined ? (atom === undefined ? 'sign' : 'atom') : 'quoted';
      tokens.push({ kind, text, isApart });
      isApart = false;
    }
  }
  return { tokens, comment, end: at };
}

/**
 * The place behind the comment that begins before `start`; -1 where it has no end. Comments lie in each other
 * (RFC 5322 3.2.2).
 */
function endOfComment(value: string, start: number): number {
  let depth = 1;
  for (let at = start; at < value.length; at++) {
    const sign = value[at];
    if (sign === '\\') at++;
    else if (sign === '(') depth++;
    else if (sign === ')' && --depth === 0) return at + 1;
  }
  return -1;
}

function mailboxOf({ tokens, comment }: Words): NamedMailbox | null {
  const open = tokens.findIndex(({ text }) => text === '<');
  // A bare address has its name in a comment. Without brackets postal-mime 4.0.0 loses the quotation marks,
  // and reads two at signs.
  if (open === -1) return tokens[0]?.text.includes('@') ? null : named(comment, addressOf(tokens));
  const phrase = tokens.slice(0, open);
  if (tokens.at(-1)?.text !== '>') return null;
  const address = addressOf(tokens.slice(open + 1, -1));
  // `ada@x.example <ada@x.example>` is malformed, and common: it says one address only, however it is read.
  const isPhrase =
    phrase.every(({ kind }) => kind !== 'sign') ||
    addressOf(phrase)?.toLowerCase() === address?.toLowerCase();
  return isPhrase ? named(phrase.length === 0 ? comment : nameOf(phrase), address) : null;
}

const named = (name: string, address: string | null): NamedMailbox | null =>
  address === null ? null : { name: seenName(decodeWords(name)).slice(0, LONGEST_NAME) || null, address };

const nameOf = (phrase: readonly Token[]): string =>
  phrase
    .map(({ kind, text, isApart }, index) => {
      const word = kind === 'quoted' ? text.slice(1, -1).replace(/\\(.)/gsu, '$1') : text;
      return isApart && index > 0 ? ` ${word}` : word;
    })
    .join('');

/** An address, which is three words; null for anything else. */
function addressOf(tokens: readonly Token[]): string | null {
  const [local, at, domain] = tokens;
  if (tokens.length !== 3 || !local || at?.text !== '@' || domain?.kind !== 'atom') return null;
  if (local.kind === 'sign' || (local.kind === 'atom' && !DOT_ATOM.test(local.text))) return null;
  return DOT_ATOM.test(domain.text) ? `${local.text}@${domain.text}` : null;
}
