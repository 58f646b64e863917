import { expect, test } from 'bun:test';
import { inSource, noteIn, refusalIn } from '../../src/automation/templates/render/made-places.ts';
import { invalid } from '../../src/platform/errors/failure.ts';

const SOURCE =
  '<mjml>\n<mj-head>\n  <mj-style>.a { color: {{ c }} }</mj-style></mj-head>\n{{ n }}{{ n }}</mjml>';
const HTML = '<html>\n\n\n<style>.a { color: {{ c }} }</style>{{ n }}\n{{ n }}';

test('a problem of made html has the place of its Liquid in the source', () => {
  expect(inSource('Line 4, column 20: a value must not.', HTML, SOURCE)).toBe(
    'Line 3, column 25: a value must not.',
  );
  // Any of the two may be meant.
  expect(inSource('Line 5, column 1: a value must not.', HTML, SOURCE)).toBe('{{ n }}: a value must not.');
  expect(inSource('Line 1, column 1: a value must not.', HTML, SOURCE)).toBe('a value must not.');
  expect(inSource('The markup splits a block.', HTML, SOURCE)).toBe('The markup splits a block.');
});

test('a place in MJML is that of its author, without the frame and in the layer', () => {
  const framed = {
    mjml: {
      text: '<mjml>\n<mj-section/>\n</mjml>',
      stretches: [
        { at: 0, layer: 'frame', line: 1, column: 1 },
        { at: 7, layer: null, line: 1, column: 1 },
        { at: 20, layer: 'frame', line: 2, column: 12 },
      ],
    },
    before: '',
    isComposed: true,
  };
  const messages = (message: string, more = {}) =>
    refusalIn(invalid([{ path: '/body/mjml', message }]), { ...framed, ...more }).extra.details?.map(
      (detail) => detail.message,
    );
  expect(messages('Line 2, column 5: Wrong.')).toEqual(['Line 1, column 5: Wrong.']);
  expect(messages('Line 1, column 2: Wrong.')).toEqual(['Line 1, column 2 of frame: Wrong.']);
  expect(messages('Wrong.')).toEqual(['Wrong.']);
  const partial = { before: '<mjml><mj-body>', isComposed: false };
  expect(messages('Line 1, column 20: Wrong.', partial)).toEqual(['Line 1, column 5: Wrong.']);
  expect(messages('Line 2, column 20: Wrong.', partial)).toEqual(['Line 2, column 20: Wrong.']);
  const note = { message: 'Left out.', line: 1, column: 20 };
  expect(noteIn(note, { ...framed, ...partial })).toEqual({ ...note, column: 5 });
  expect(noteIn({ ...note, line: 2, column: null }, framed)).toEqual({ ...note, line: 1, column: null });
});
