import { expect, test } from 'bun:test';
import { withoutResourceHints } from '../../src/mail/message/resource-hints.ts';

test.each([
  '<link rel=preconnect href=//a.example>',
  '<LINK\nrel="dns-prefetch" href="//a.example">',
  '<link/rel=preconnect/href=//a.example>',
  '<link>',
  '<svg><style><p><link rel=preconnect href=//a.example>',
  '<noscript><link\trel=preconnect href=//a.example></noscript>',
  '<!--><link rel=preconnect href=//a.example>',
])('%j makes no link element', (html) => {
  const changed = withoutResourceHints(html);
  expect(changed).not.toMatch(/<link[\s/>]/i);
  expect(changed.replace('<x-link', '<link').toLowerCase()).toBe(html.toLowerCase());
});

test.each([
  '<p>&lt;link rel=preconnect&gt;</p>',
  '<linked>',
  'a < link >',
  '<a href="https://a.example/<links">x</a>',
])('%j stays as it is', (html) => expect(withoutResourceHints(html)).toBe(html));
