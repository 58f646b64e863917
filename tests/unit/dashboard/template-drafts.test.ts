import { expect, test } from 'bun:test';
import type { Template } from '../../../src/web/client/operations.ts';
import { draftOf, patchOf } from '../../../src/web/dashboard/web/application/pages/templates/draft.ts';

test('a draft leaves out languages that were removed, and those that only the version has that it builds on', () => {
  const words = { subject: null, previewText: null, markdown: null, mjml: null, text: null };
  const template = {
    name: 'T',
    alias: null,
    format: 'html',
    html: '<p>a</p>',
    from: null,
    replyTo: [],
    variables: [],
    ...words,
    layoutId: null,
    language: 'en',
    translations: { de: { ...words, html: '<p>b</p>' }, fr: { ...words, html: '<p>c</p>' } },
  } as unknown as Template;
  const { fr: _, ...kept } = draftOf(template).translations;
  const { translations } = patchOf({ ...draftOf(template), translations: kept }, template, ['de', 'it']);
  expect(Object.keys(translations).toSorted()).toEqual(['de', 'fr', 'it']);
  expect(translations).toMatchObject({ de: { html: '<p>b</p>' }, fr: null, it: null });
});
