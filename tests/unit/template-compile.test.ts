import { expect, test } from 'bun:test';
import { type Compilers, compile, frameOf } from '../../src/automation/templates/render/compile.ts';
import type { VersionContent } from '../../src/automation/templates/render/content.ts';
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
    ...{ format: 'html', subject: 'News', previewText: null, html, markdown: null, mjml: null, text: null },
    ...{ variables: [], from: null, replyTo: [], layoutId: null },
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
