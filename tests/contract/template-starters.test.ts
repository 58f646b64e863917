import { afterAll, beforeAll, expect, test } from 'bun:test';
import { FONT_NAMES, FONTS } from '../../src/platform/text/fonts.ts';
import { branded } from '../../src/web/dashboard/web/application/pages/templates/starters/pieces.ts';
import { STARTERS } from '../../src/web/dashboard/web/application/pages/templates/starters.ts';
import { readDesign } from '../../src/web/dashboard/web/application/pages/visual/source/blocks.ts';
import { choicesOf } from '../../src/web/dashboard/web/application/pages/visual/source/edit.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

let service: LiveService;
let site: Bun.Server<undefined>;

beforeAll(async () => {
  site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('good') });
  service = await startLiveService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site.stop(true);
});

const starters = Object.entries(STARTERS).flatMap(([kind, all]) =>
  Object.entries(all).map(([name, { content }]) => [`${kind} ${name}`, kind, content] as const),
);

/** The content with links that answer, in a test without a network. */
const reachable = (content: object): object => {
  const text = JSON.stringify(content).replaceAll('https://example.com', `http://127.0.0.1:${site.port}`);
  const read = JSON.parse(text) as {
    readonly variables?: readonly { readonly key: string; readonly required?: boolean }[];
  };
  const variables = read.variables?.map((each) =>
    /Url$/.test(each.key) ? { ...each, required: false, fallback: `http://127.0.0.1:${site.port}/` } : each,
  );
  return { ...read, ...(variables && { variables }) };
};

test('twelve starting points are messages in MJML', () => {
  const messages = Object.values(STARTERS.template).filter(({ content }) => content.format === 'mjml');
  expect(messages).toHaveLength(12);
});

test('a starting point takes the colour and the font of the workspace, and links that can be read', () => {
  const { mjml } = STARTERS.template.digest.content;
  const dark = branded(mjml, { colour: '#7c3aed', fontFamily: 'georgia' });
  expect(dark).toContain('<mj-all font-family="Georgia, Times, serif" />');
  expect(dark).toContain('background-color="#7c3aed" color="#ffffff"');
  expect(dark).toContain('style="color: #7c3aed"');
  // Yellow on white cannot be read.
  const light = branded(mjml, { colour: '#ffd400', fontFamily: null });
  expect(light).toContain('background-color="#ffd400" color="#000000"');
  expect(light).not.toContain('style="color: #ffd400"');
  expect(branded(mjml, undefined)).toBe(mjml);
});

test.each(starters)('the starting point %s is checked without an error', async (_, kind, content) => {
  const made = await service.live.post('/v1/templates', { name: 'T', kind, ...reachable(content) });
  expect([made.status, made.body.data === undefined && made.body]).toEqual([201, false]);
  const { id } = made.body.data;
  const told = await service.live.get(`/v1/templates/${id}/check`);
  expect(told.status).toBe(200);
  const problems = told.body.data.problems as Email[];
  // Rounded corners and dark colours are left out by some programs, and the tests have no network.
  const expected = new Set(['dropped', 'empty_placeholder', 'insecure_link', 'no_dark_mode']);
  const others = problems.filter(({ severity, code }) => severity === 'error' || !expected.has(code));
  expect(others.map(({ severity, code, message }) => [severity, code, message])).toEqual([]);
});

test.each(starters.filter(([, kind, { format }]) => format === 'mjml' && kind !== 'layout'))(
  'the starting point %s is shown as blocks',
  (_, __, content) => {
    const design = readDesign('mjml' in content ? content.mjml : '');
    const locked = design && choicesOf(design).filter(({ block }) => block?.kind === 'locked');
    expect(locked?.map(({ block }) => block && 'source' in block && block.source)).toEqual([]);
  },
);

test('a font of the brand is the same text in an attribute, which escapes it, and in a style element', async () => {
  const html =
    "<style>p { font-family: {{ workspace.fontFamily | raw }} }</style><p style='font-family: {{ workspace.fontFamily }}'>x</p>";
  for (const font of FONT_NAMES) {
    await service.live.patch('/v1/workspace', { branding: { fontFamily: font } });
    const shown = await service.live.post('/v1/templates/render-preview', { subject: 's', html });
    const stack = FONTS[font];
    expect(stack).toMatch(/^(?:[A-Z]\w+(?: [A-Z]\w+)*, )+(?:sans-serif|serif|monospace)$/);
    expect(shown.body.data.html).toBe(
      `<style>p { font-family: ${stack} }</style><p style='font-family: ${stack}'>x</p>`,
    );
  }
});
