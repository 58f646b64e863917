import { expect, test } from 'bun:test';
import { type Compilers, compile, withLines } from '../../src/automation/templates/render/compile.ts';
import type { StoredContent, VersionContent } from '../../src/automation/templates/render/content.ts';
import { frameOf } from '../../src/automation/templates/render/mjml-frame.ts';
import { TooSlow } from '../../src/mail/liquid/limits.ts';
import type { LiquidRenderer } from '../../src/mail/liquid/liquid-renderer.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { costMs } from '../support/own-time.ts';

/** A renderer on a machine so busy that every rendering takes too long. */
const busy = {
  liquid: {
    examine: async () => ({ problems: [], names: [], raw: [], slots: {} }),
    render: async () => new TooSlow(),
  } as unknown as LiquidRenderer,
  markdown: {} as Compilers['markdown'],
  versions: { find: async () => null, read: async () => null },
};
const ORDER = { owner: { workspaceId: 'ws_1', livemode: true }, id: null, kind: 'template', now: 0 } as const;
const content = (html: string): VersionContent =>
  ({
    format: 'html',
    subject: 'News',
    previewText: null,
    html,
    markdown: null,
    mjml: null,
    text: null,
    variables: [],
    from: null,
    replyTo: [],
    layoutId: null,
    language: null,
    translations: {},
  }) as unknown as VersionContent;

test('what has no Liquid is not rendered when it is saved, so that a busy machine refuses none of it', async () => {
  const plain = await compile(busy, content('<p>Hello {you} % } }}</p>'), ORDER);
  expect(plain).toMatchObject({ sources: { html: '<p>Hello {you} % } }}</p>' } });
  for (const html of ['<p>{{ name }}</p>', '{% if a %}b{% endif %}'])
    expect(await compile(busy, content(html), ORDER)).toBeInstanceOf(Failure);
});

test('the frame of an MJML partial is found behind any number of comments, in time that grows with them alone', () => {
  const section = frameOf('<mj-section></mj-section>');
  expect(section.before).toBe('<mjml><mj-body>');
  expect(frameOf(`\n<!-- a --> <!---->${'<!-- b -->'.repeat(100)}<mj-section />`)).toEqual(section);
  const cost = costMs(() => {
    frameOf(`${'<!---->'.repeat(20_000)}x`);
    frameOf(`${'<!--'.repeat(20_000)}x`);
  });
  // Fifty comments took for ever.
  expect(cost).toBeLessThan(1_000);
});

test('another subject is read alone: the bodies keep the layers that they were made with', async () => {
  const examined: unknown[] = [];
  const looked: string[] = [];
  const compilers = {
    ...busy,
    liquid: {
      examine: async (_: string, parts: unknown) => {
        examined.push(parts);
        return { problems: [], names: [], raw: [], slots: {} };
      },
    } as unknown as LiquidRenderer,
    versions: {
      find: async (_: unknown, name: string) => {
        looked.push(name);
        return null;
      },
      read: async () => null,
    },
  };
  const html = '<p>Made</p>';
  const made = {
    sources: { subject: 'News', previewText: null, html, text: null },
    names: ['a'],
    raw: [],
    slots: {},
    layered: { layers: [], inherited: [], stretches: {}, body: null },
    notes: [],
  };
  const stored = {
    ...content('{% render "gone" %}'),
    layoutId: 'gone',
    language: 'en',
    ...made,
    translations: { de: { subject: 'Neues', previewText: null, html: '{% render "gone" %}' } },
    translated: { de: { ...made, untranslated: [] } },
  } as unknown as StoredContent;
  const own = await withLines(compilers, stored, { subject: 'Other', previewText: null }, ORDER);
  expect(own).toMatchObject({ sources: { subject: 'Other', html: expect.stringContaining(html) } });
  const lines = { previewText: null, html: null, markdown: null, mjml: null, text: null };
  expect(examined).toEqual(Array(2).fill({ ...lines, subject: 'Other' }));
  expect(looked).toEqual([]);
});
