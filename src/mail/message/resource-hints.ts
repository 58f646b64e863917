/**
 * The beginning of a tag that makes a `link` element, in whatever a parser takes it to stand: the name ends
 * at a space, `/` or `>`.
 */
const LINK = /<link(?=[\s/>])/gi;

/**
 * HTML whose `link` elements are elements of no meaning. A browser opens a connection for `<link
 * rel=preconnect>` and looks up a name for `dns-prefetch`, which tells its author that a person looks, and no
 * Content-Security-Policy forbids either. The change is made in the characters and not by a parser, since
 * what one parser overlooks another one may find: without these characters there is no such element in any
 * parse (HTML, 13.2.5.6: a character reference never begins a tag).
 */
export const withoutResourceHints = (html: string): string => html.replace(LINK, '<x-link');
