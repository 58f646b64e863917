import { posix } from 'node:path';

/** A Markdown page of the repository. */
export interface MarkdownPage {
  /** The path from the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

interface Line {
  readonly number: number;
  readonly text: string;
}

/** Lines outside fenced blocks, whose content is code and not Markdown. */
function proseOf(text: string): Line[] {
  let isCode = false;
  return text.split('\n').flatMap((line, index) => {
    const isFence = /^ *(```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? [] : [{ number: index + 1, text: line }];
  });
}

/** GitHub's anchors: lower case, punctuation dropped, spaces as hyphens; a repeated heading gets a number. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const { text: line } of proseOf(text)) {
    const [, heading] = /^#{1,6} +(.+?) *#*$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

const LINK = /\]\(<?([^)\s>]+)>?(?: +"[^"]*")?\)/g;
const CODE_SPAN = /`[^`]*`/g;
/** A code span that is the path of a file or folder of the repository. */
const PATH = /`((?:src|machines|scripts|tests|drizzle|docs)\/[\w./-]*)`/g;
/** `name.ts` in the first cell of a table: the page says what that file, which lies beside it, is for. */
const FILE_IN_TABLE = /`([\w./-]+\.tsx?)`/g;

/**
 * Problems with the links and file names of the pages, a sentence each: a link to a file or heading that does
 * not exist, a path in the text that does not exist, and a source file in the first column of a folder's
 * README that is not in the folder. Links to other sites are not opened.
 */
export function linkProblems(pages: readonly MarkdownPage[], exists: (path: string) => boolean): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]));

  /** Null when the link leads somewhere. */
  function problemOf(link: string, { path, text }: MarkdownPage): string | null {
    if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return null;
    // Pages that the service itself serves link to each other by the paths of the service.
    if (link.startsWith('/')) return path.startsWith('src/') ? null : 'must be relative to this page';
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), decodeURI(file)));
    if (!exists(target)) return `leads to ${target}, which does not exist`;
    if (anchor === undefined) return null;
    const content = target === path ? text : byPath.get(target)?.text;
    if (content === undefined) return `has an anchor, but ${target} is no page with headings`;
    return anchorsOf(content).has(anchor) ? null : `leads to a heading that ${target} does not have`;
  }

  return pages.flatMap((page) =>
    proseOf(page.text).flatMap(({ number, text }) => {
      const at = `${page.path}:${number}`;
      const links = [...text.replace(CODE_SPAN, '').matchAll(LINK)].map(([, link = '']) => link);
      const problems = links.flatMap((link) => {
        const problem = problemOf(link, page);
        return problem === null ? [] : [`${at}: the link ${link} ${problem}.`];
      });
      for (const [, named = ''] of text.matchAll(PATH))
        if (!exists(named)) problems.push(`${at}: ${named} does not exist.`);
      const isFolderPage = /^(src|machines)\/.*README\.md$/.test(page.path);
      const [, firstCell = ''] = isFolderPage ? (/^\|([^|]*)\|/.exec(text) ?? []) : [];
      for (const [, name = ''] of firstCell.matchAll(FILE_IN_TABLE))
        if (!exists(posix.join(posix.dirname(page.path), name)))
          problems.push(`${at}: ${name} is not in ${posix.dirname(page.path)}.`);
      return problems;
    }),
  );
}
