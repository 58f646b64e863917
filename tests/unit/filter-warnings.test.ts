import { describe, expect, test } from 'bun:test';
import { deadPlaceholders, filterWarnings, wayOutWarning } from '../../src/mail/content/filter-warnings.ts';
import { verdictOf } from '../../src/mail/spam/spam-verdict.ts';

const QUIET = { opens: false, clicks: false };
const WORDS = 'Some words that people read in a mail. '.repeat(100);
const codes = (html: string, text: string, counted = QUIET) =>
  filterWarnings({ html, text }, counted).map(({ code }) => code);
const links = (count: number, host: string): string =>
  Array.from({ length: count }, (_, index) => `<a href="https://${host}/${index}">link</a>`).join(' ');
const inText = (count: number, host: string): string =>
  Array.from({ length: count }, (_, index) => `link (https://${host}/${index})`).join(' ');
const PICTURE = '<img src="https://i.example/x.png">';

describe('links that rspamd counts as odd', () => {
  // Each was handed to rspamd 3.4 of Debian 12: true where it told URI_COUNT_ODD.
  const cases: Readonly<Record<string, readonly [html: string, text: string, isOdd: boolean]>> = {
    'one in both': [links(1, 'a.example'), inText(1, 'a.example'), false],
    'another one in each': [links(1, 'a.example'), inText(1, 'b.example'), true],
    'one in the html': [links(1, 'a.example'), 'x', false],
    'two in the html': [links(2, 'a.example'), 'x', false],
    'two in the html, another one in the text': [links(2, 'a.example'), inText(1, 'b.example'), true],
    'three in both': [links(3, 'a.example'), inText(3, 'a.example'), false],
    'other three in each': [links(3, 'a.example'), inText(3, 'b.example'), true],
    'one in both and a picture': [links(1, 'a.example') + PICTURE, inText(1, 'a.example'), true],
    'two, another one and a picture': [links(2, 'a.example') + PICTURE, inText(1, 'b.example'), false],
    'one twice': [links(1, 'a.example').repeat(2), 'x', false],
    'one twice and in the text': [links(1, 'a.example').repeat(2), inText(1, 'a.example'), true],
    'one written out': ['<a href="https://a.example/1">https://a.example/1</a>', 'x', true],
    'an address of mail': ['<a href="mailto:x@a.example">x</a>', 'x', false],
  };
  for (const [name, [html, text, isOdd]] of Object.entries(cases))
    test(name, () => expect(codes(`<p>${WORDS}${html}</p>`, text)).toEqual(isOdd ? ['odd_links'] : []));
  test('counted links have separate addresses, and opens a picture', () => {
    const [html, text] = [`<p>${WORDS}${links(1, 'a.example')}</p>`, inText(1, 'a.example')];
    expect(codes(html, text, { opens: false, clicks: true })).toEqual(['odd_links']);
    expect(codes(html, text, { opens: true, clicks: true })).toEqual([]);
  });
});

describe('few words beside a picture', () => {
  const told = (words: number, html = PICTURE, counted = QUIET) =>
    /HTML_IMAGE_ONLY_\d\d/.exec(
      filterWarnings({ html: `<p>${'x'.repeat(words)}</p>${html}`, text: 'x' }, counted)[0]?.message ?? '',
    )?.[0];
  test('are reported with the rule of SpamAssassin, at its bounds', () => {
    expect([400, 401, 800, 3_200, 3_201].map((words) => told(words))).toEqual([
      'HTML_IMAGE_ONLY_04',
      'HTML_IMAGE_ONLY_08',
      'HTML_IMAGE_ONLY_08',
      'HTML_IMAGE_ONLY_32',
      undefined,
    ]);
    expect([told(10, ''), told(10, '', { opens: true, clicks: false })]).toEqual([
      undefined,
      'HTML_IMAGE_ONLY_04',
    ]);
  });
  test('are reported of a captured message in a sentence', () => {
    const answer =
      'SPAMD/1.1 0 EX_OK\r\nSpam: False ; 1.7 / 5.0\r\n\r\n 1.7 HTML_IMAGE_ONLY_04 BODY: HTML: images with 0-400 bytes of words\n';
    expect(verdictOf(answer)?.rules[0]?.advice).toContain('write more text');
  });
});

test('what hides the unsubscribe link from recipients is reported', () => {
  const told = (html: string) => wayOutWarning({ html, text: null })?.code;
  expect(told('<a href="{{unsubscribeUrl}}">Leave</a>')).toBeUndefined();
  expect(told('<p>Hi</p>')).toBe('no_unsubscribe_link');
  for (const encoded of [
    '%7B%7B unsubscribeUrl %7D%7D',
    '%7b%7bunsubscribeUrl%7d%7d',
    '&#123;&#123; unsubscribeUrl &#125;&#125;',
    '&lbrace;&lbrace;name&rbrace;&rbrace;',
    '&#x7B;&#x7B;name&#x7D;&#x7D;',
  ]) {
    expect(told(`<a href="${encoded}">Leave</a>`)).toBe('no_unsubscribe_link');
    const [first, ...others] = deadPlaceholders(`<p>Hi</p><a href="${encoded}">Leave</a>`);
    expect([first?.code, first?.at, others]).toEqual(['encoded_placeholder', 18, []]);
    expect(first?.message).toContain(encoded);
  }
});

describe('a placeholder of another service', () => {
  test.each([
    '*|FNAME|*',
    '*|MC:SUBJECT|*',
    '%recipient.name%',
    '%FIRSTNAME%',
    '%%FirstName%%',
    '[% name %]',
    '<%= name %>',
    '[[FIRSTNAME OR "you"]]',
  ])('%s is told, with its place', (word) => {
    const [first, ...others] = deadPlaceholders(`<p>Hi ${word},</p>`);
    expect([first?.code, first?.at, others]).toEqual(['foreign_placeholder', 6, []]);
    expect(first?.message).toContain(word);
  });

  test('is reported behind a letter that is encoded', () => {
    for (const before of ['Hi%20', 'Caf%C3%A9']) {
      const [first, ...others] = deadPlaceholders(
        `<a href="mailto:a@b.example?subject=${before}%FIRSTNAME%">`,
      );
      expect([first?.code, others]).toEqual(['foreign_placeholder', []]);
    }
  });

  test.each([
    '{{ contact.firstName }}',
    '50% off and 20% more',
    '100%cotton, 50%',
    'https://a.example/?q=%C3%BC%20caf%C3%A9%26abc%3D',
    'https://a.example/?utm_campaign=15%20d%C3%ADas%20gratis',
    'https://a.example/Na%C3%AFvet%C3%A9',
    'a *b* | c',
    '[1] and [[2]]',
    '<style>.a{width:50%;height:50%}</style>',
    '<!--[if mso]><p>a</p><![endif]-->',
    '<td width="100%" align="left" height="100%">',
  ])('%s is none', (text) => {
    expect([...deadPlaceholders(`<p>${text}</p>`)]).toEqual([]);
  });
});

// Inliners by libxml2 write the first form: findings/inliners-encode-the-braces-of-a-link.sh.
test.each([
  '%7B%%20if%20order%20%%7D',
  '%7B%25%20if%20order%20%25%7D',
  '%7b%-+endif+-%%7d',
  '&#123;% if order %&#125;',
  '&lbrace;&percnt; endif &percnt;&rbrace;',
])('a tag in an address is reported where its braces are encoded: %s', (encoded) => {
  const [first, ...others] = deadPlaceholders(`<p>Hi</p><a href="${encoded}">Order</a>`);
  expect([first?.code, first?.at, others]).toEqual(['encoded_placeholder', 18, []]);
  expect(first?.message).toContain(`${encoded}, so that nothing is filled in there. Write {% and %} in`);
});

test.each([
  'https://shop.example/?q=%7B%22a%22%3A%2250%25%22%7D',
  'https://shop.example/?q=%7B%EF%BC%85%7D',
  'https://shop.example/?q=%7B%C3%A4%7D&p=%25%7D',
  'https://shop.example/%7Bid%7D?share=50%25',
])('an address with braces that are no placeholder is not: %s', (url) => {
  expect([...deadPlaceholders(`<a href="${url}">Go</a>`)]).toEqual([]);
});
