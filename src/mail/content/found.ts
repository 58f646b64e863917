import { readHtml } from '../html/read-html.ts';

/** The links and codes that a test needs from a mail. */
export interface MailFindings {
  /** Addresses of the web, each once, those of the html first. */
  readonly links: string[];
  /** Texts that look like a code to type in, each once. */
  readonly codes: string[];
}

/** The most links and codes of one mail. */
export const MOST_FOUND = { links: 100, codes: 20 } as const;

/** The most characters of each part that are looked through. */
const LONGEST = 1_048_576;

const IN_TEXT = /\bhttps?:\/\/[^\s<>"'`]+/gi;
/** Marks that end a sentence and no address. */
const TRAILING = ').,;:!?]}';
/**
 * Four to eight digits, twice three, or six to ten capitals and digits mixed, which stand alone: no part of a
 * number, an order (`#1842`), an address or a word. Each alternative begins where a word does, so that no
 * text makes it slow.
 */
const CODE =
  /(?<![\w.,@#&/-])(?:\d{3}[- ]\d{3}|\d{4,8}|(?=[A-Z]{0,10}\d)(?=\d{0,10}[A-Z])[A-Z\d]{6,10})(?![\w@/-]|[.,:]\d)/g;

/** Finds the links and the codes of a mail. */
export function findInMail(subject: string, text: string | null, html: string | null): MailFindings {
  const plain = (text ?? '').slice(0, LONGEST);
  const inHtml = html === null ? [] : readHtml(html.slice(0, LONGEST)).links.map(({ url }) => url);
  const links = new Set(inHtml.filter((url) => /^https?:\/\//i.test(url)).slice(0, MOST_FOUND.links));
  for (const [link] of plain.matchAll(IN_TEXT)) {
    if (links.size >= MOST_FOUND.links) break;
    links.add(withoutMarks(link));
  }
  const codes = new Set<string>();
  for (const [code] of `${subject}\n${plain.replace(IN_TEXT, ' ')}`.matchAll(CODE)) {
    if (codes.size >= MOST_FOUND.codes) break;
    codes.add(code.replace(/[- ]/, ''));
  }
  return { links: [...links], codes: [...codes] };
}

/** A pattern at the end of a text would be tried from each of its characters. */
function withoutMarks(link: string): string {
  let end = link.length;
  while (TRAILING.includes(link.charAt(end - 1))) end--;
  return link.slice(0, end);
}
