import { describe, expect, test } from 'bun:test';
import { readHtml } from '../../src/mail/html/read-html.ts';
import { StepBudget } from '../../src/mail/html/step-budget.ts';
import { EXIT_PLACEHOLDER, missingWayOut, showsWayOut } from '../../src/mail/html/way-out.ts';
import { HIDDEN_LINKS, SHOWN_LINKS } from '../support/hidden-links.ts';

describe('a link to unsubscribe counts as shown where every reader sees it', () => {
  for (const [name, html] of Object.entries(HIDDEN_LINKS))
    test(`not with ${name}`, () => expect(showsWayOut({ html, text: null })).toBe(false));
  for (const [name, html] of Object.entries(SHOWN_LINKS))
    test(`also with ${name}`, () => expect(showsWayOut({ html, text: null })).toBe(true));

  const ADDRESS = 'https://a.example/leave';
  for (const [name, html] of Object.entries(HIDDEN_LINKS))
    test(`the link that is added is shown with ${name}`, () => {
      const written = html.replace(EXIT_PLACEHOLDER, 'https://b.example/');
      const reading = readHtml(written, ADDRESS);
      const sent =
        written.slice(0, reading.end) + missingWayOut(reading, ADDRESS) + written.slice(reading.end);
      // Rules that are left unread may hide that link as well.
      const isUnread = /(?:is|are) read$/.test(name);
      expect(readHtml(sent, ADDRESS).shows).toBe(!isUnread);
    });
});

const LINK = '<a href="{{unsubscribeUrl}}">Leave</a>';
const MEBIBYTE = 1_048_576;
const filled = (piece: string, before = '', after = LINK): string =>
  before + piece.repeat(Math.floor((MEBIBYTE - before.length - after.length) / piece.length)) + after;
const rules = (count: number, rule: (index: number) => string): string =>
  `<style>${Array.from({ length: count }, (_, index) => rule(index)).join('')}</style>`;

/** The most steps that a reading may take, and the one that goes beyond them. */
const MOST_STEPS = 510_000;

/** Steps of one reading, and its result. */
function stepsOf(html: string) {
  const budget = new StepBudget();
  const reading = readHtml(html, '{{unsubscribeUrl}}', budget);
  return { steps: budget.spent, reading };
}

describe('reading html takes a bounded number of steps', () => {
  test('200 rules at a depth of 990: the work of each element does not depend on its depth', () => {
    const html = (depth: number) =>
      `${rules(200, (index) => `.x${index} div{display:none}`)}${'<div class="a b c d">'.repeat(depth)}${LINK}`;
    const [half, whole] = [stepsOf(html(495)), stepsOf(html(990))];
    expect(whole.reading.shows).toBe(true);
    expect(whole.steps).toBeLessThan(450_000);
    expect(whole.steps / half.steps).toBeLessThan(2.1);
  });

  test('an end tag that ends nothing takes no more within 990 elements', () => {
    for (const name of ['b', 'td', 'div2', 'body']) {
      const html = filled(`</${name}>`, `<table><tr><td>${'<div>'.repeat(900)}`);
      expect(stepsOf(html).steps).toBeLessThan(10_000);
    }
  });

  const hostile: Readonly<Record<string, string>> = {
    'rules with one ancestor': filled(
      '<div class="a b c d">x</div>',
      rules(1_000, (index) => `.a .x${index} div{display:none}`),
    ),
    'rules for any element': filled(
      `<a href="{{unsubscribeUrl}}">${'<p class="a">'.repeat(400)}x${'</p>'.repeat(400)}</a>`,
      rules(900, (index) => `:not(.x${index}) *:not(.y){visibility:hidden}`),
    ),
    'a link in each branch': filled(
      `<div>${'<i title=x>'.repeat(100)}${LINK}${'</i>'.repeat(100)}</div>`,
      rules(900, (index) => `div .x${index}{display:none}`),
    ),
    'classes without end': filled('a '.repeat(100), '<p class="', `">${LINK}`),
    'formatting that a block ends': filled('<div><b style="display:none"></div>'),
    'links that end each other': filled('<a href>'),
    'links with references': filled('<a href="&lt;">'),
    'text that is nothing, with references': filled('&zwnj;<br>', '<a href="{{unsubscribeUrl}}">', ''),
    'pictures of nothing': filled('<img src="">', '<a href="{{unsubscribeUrl}}">', ''),
    'ends of the body': filled('</body>', '<div style="color:red">'.repeat(900), ''),
    'style sheets': filled('<style media=all>a{}</style>'),
    'an unending selector': filled('.a ', '<style>', `{display:none}</style><p class="a">${LINK}`),
    'an unending attribute of a selector': filled(' ', '<style>p[a="b"', `{display:none}</style><p>${LINK}`),
    'blocks in blocks': filled(
      '@media all{',
      '<style>',
      `.gone{display:none}</style><p class="gone">${LINK}`,
    ),
    'unending strings': filled('"a\n', '<style>', `.gone{display:none}</style><p class="gone">${LINK}`),
    'unending escapes': filled('\\61 ', '<style>', `.gone{display:none}</style><p class="gone">${LINK}`),
    'comments in a style': filled('/**/', '<p style="', `;display:none">${LINK}`),
    'marks of importance': filled('!', '<p style="display:none', `">${LINK}`),
  };
  for (const [name, html] of Object.entries(hostile))
    test(`in a mebibyte of ${name}`, () => {
      const { steps, reading } = stepsOf(html);
      expect(steps).toBeLessThan(MOST_STEPS);
      if (steps >= 500_000) expect(reading).toMatchObject({ shows: false, end: reading.begin });
    });

  test('and where they do not suffice a way out is added before all that was not decided', () => {
    const { reading } = stepsOf(filled('<a href="&lt;">', '<body>'));
    expect(reading).toMatchObject({ begin: 6, end: 6, shows: false });
  });
});
