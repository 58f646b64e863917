import { describe, expect, test } from 'bun:test';
import { linkProblems, type MarkdownPage } from '../../scripts/links/problems.ts';

const FILES = [
  'README.md',
  'docs/setup.md',
  'docs/a file.md',
  'src/platform/text/README.md',
  'src/platform/text/address.ts',
];
const SETUP: MarkdownPage = {
  path: 'docs/setup.md',
  text: '# Set it up\n\n## `bun run` & more\n\n## Twice\n\n## Twice',
};

const problems = (path: string, text: string) =>
  linkProblems([SETUP, { path, text }], (file) => FILES.includes(file));

describe('a link that leads somewhere is accepted', () => {
  test.each([
    ['README.md', '[a](docs/setup.md)'],
    ['README.md', '![a](docs/setup.md "title")'],
    ['README.md', '[a](docs/a%20file.md)'],
    ['README.md', '[a](<docs/setup.md>)'],
    ['src/platform/text/README.md', '[a](../../../docs/setup.md#set-it-up)'],
    ['README.md', '[a](docs/setup.md#bun-run--more)'],
    ['README.md', '[a](docs/setup.md#twice-1)'],
    ['README.md', '# Here\n[a](#here)'],
    ['README.md', '[a](https://example.com/missing.md) [b](mailto:a@example.com)'],
    ['src/web/docs/guide.md', '[a](/docs/another-guide)'],
    ['README.md', '```md\n[a](missing.md)\n```'],
    ['README.md', 'Write `[a](missing.md)` for a link.'],
  ])('%s: %s', (path, text) => {
    expect(problems(path, text)).toEqual([]);
  });
});

describe('a link that leads nowhere is named with its page and line', () => {
  test.each([
    [
      'README.md',
      '\n[a](missing.md)',
      'README.md:2: the link missing.md leads to missing.md, which does not exist.',
    ],
    [
      'docs/x.md',
      '[a](README.md)',
      'docs/x.md:1: the link README.md leads to docs/README.md, which does not exist.',
    ],
    [
      'README.md',
      '![a](docs/x.png)',
      'README.md:1: the link docs/x.png leads to docs/x.png, which does not exist.',
    ],
    [
      'README.md',
      '[a](docs/setup.md#nothing)',
      'README.md:1: the link docs/setup.md#nothing leads to a heading that docs/setup.md does not have.',
    ],
    [
      'README.md',
      '[a](#nothing)',
      'README.md:1: the link #nothing leads to a heading that README.md does not have.',
    ],
    [
      'README.md',
      '# A\n[a](#b)',
      'README.md:2: the link #b leads to a heading that README.md does not have.',
    ],
    [
      'README.md',
      '[a](/docs/setup.md)',
      'README.md:1: the link /docs/setup.md must be relative to this page.',
    ],
    [
      'README.md',
      '```\ncode\n```\n[a](missing.md)',
      'README.md:4: the link missing.md leads to missing.md, which does not exist.',
    ],
  ])('%s: %s', (path, text, problem) => {
    expect(problems(path, text)).toEqual([problem]);
  });
});

describe('a path in the text', () => {
  test('may name a file or folder that is there', () => {
    expect(
      problems('docs/x.md', 'See `src/platform/text/address.ts` and `docs/setup.md`, or `src/**/*.ts`.'),
    ).toEqual([]);
  });

  test('may not name one that is gone', () => {
    expect(problems('docs/x.md', '# A\nSee `src/platform/text/mailbox.ts`.')).toEqual([
      'docs/x.md:2: src/platform/text/mailbox.ts does not exist.',
    ]);
  });
});

describe('the table of files in a folder’s README', () => {
  test('may name files that are there', () => {
    expect(problems('src/platform/text/README.md', '| `address.ts` | what `elsewhere.ts` needs |')).toEqual(
      [],
    );
  });

  test('may not name a file that is gone', () => {
    expect(problems('src/platform/text/README.md', '| `address.ts`, `mailbox.ts` | addresses |')).toEqual([
      'src/platform/text/README.md:1: mailbox.ts is not in src/platform/text.',
    ]);
  });
});
