import type { PreviewWarning } from './model.ts';

/** Most warnings of one kind: an author mends the first ones and looks again. */
const MOST_OF_A_KIND = 20;

/** Elements whose end tag HTML does not let an author leave out, as far as emails use them (HTML Living Standard, 13.1.2.4). */
const ENDED: ReadonlySet<string> = new Set(
  'a b strong i em u s span font center div section article header footer main table ul ol dl h1 h2 h3 h4 h5 h6 blockquote pre code button title style'.split(
    ' ',
  ),
);

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly text: string;
  readonly line: number;
}

/** The tags of a document, each looked at once however it is broken; comments and style sheets are passed over. */
function* tagsOf(html: string): Generator<Tag> {
  const lower = html.toLowerCase();
  let line = 1;
  // The next line end is looked for once, not anew for every tag of a long line.
  let lineEnd = html.indexOf('\n');
  for (let at = html.indexOf('<'); at !== -1; ) {
    for (; lineEnd !== -1 && lineEnd < at; lineEnd = html.indexOf('\n', lineEnd + 1)) line++;
    const isComment = html.startsWith('<!--', at);
    const end = html.indexOf(isComment ? '-->' : '>', at);
    if (end === -1) return;
    const text = html.slice(at, end);
    const [, slash = '', written = ''] = isComment
      ? []
      : (/^<(\/?)([a-z][a-z0-9]{0,15})\b/i.exec(text) ?? []);
    const name = written.toLowerCase();
    if (name !== '') yield { name, isEnd: slash !== '', text, line };
    const next = name === 'style' && slash === '' ? lower.indexOf('</style', end) : end;
    if (next === -1) return;
    at = html.indexOf('<', next);
  }
}

/** Warns of what a mail program shows badly in html. `hasLines`: its lines are the author's, so that they are worth telling. */
export function htmlWarnings(html: string, hasLines: boolean): PreviewWarning[] {
  const warnings: PreviewWarning[] = [];
  const counts = new Map<string, number>();
  const warn = (code: string, message: string, line: number) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    if (count <= MOST_OF_A_KIND) warnings.push({ code, message, line: hasLines ? line : null });
  };
  const open = new Map<string, number[]>();
  for (const { name, isEnd, text, line } of tagsOf(html)) {
    if (ENDED.has(name)) {
      const lines = open.get(name) ?? [];
      if (isEnd) lines.pop();
      else if (!text.endsWith('/')) lines.push(line);
      open.set(name, lines);
    }
    if (isEnd) continue;
    if (name === 'img' && !/\salt\s*(?:=|$)/i.test(text))
      warn('image_without_alt', 'This image has no alt text, which shows where images are blocked.', line);
    if (/\s(?:href|src)\s*=\s*["']?\s*http:/i.test(text))
      warn('insecure_link', 'This address begins with http: use https.', line);
  }
  for (const [name, lines] of open)
    for (const line of lines) warn('unclosed_tag', `This ${name} is closed nowhere.`, line);
  return warnings;
}
