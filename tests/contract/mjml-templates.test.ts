import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { pathsOf, type Told } from './ask.ts';

let service: LiveService;
beforeAll(async () => {
  service = await startLiveService({ environment: { RATE_LIMIT_PREVIEW: '0' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const post = (path: string, body: object): Promise<Told> => service.live.post(path, body) as Promise<Told>;
const data = async (path: string, body: object): Promise<Email> => {
  const told = await post(path, body);
  if (told.status >= 300) throw new Error(JSON.stringify(told.body));
  return told.body.data;
};
const page = (body: string): string => `<mjml lang="en"><mj-body>${body}</mj-body></mjml>`;
const section = (text: string): string =>
  `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;
const MJML = page(section('Hi {{ name }}'));

const VALUES = {
  name: 'Ada <b>&"\'',
  n: 3,
  url: 'https://x.example/?a=1&b=2',
  items: [{ t: 'Tea & <i>' }, { t: 'Biscuits' }],
};

describe('what is refused', () => {
  test.each<[string, object, string[]]>([
    ['mjml without the format', { name: 'x', mjml: MJML }, ['/body/mjml']],
    [
      'mjml with the format emailmd',
      { name: 'x', format: 'emailmd', mjml: MJML },
      ['/body/markdown', '/body/mjml'],
    ],
    ['html with the format mjml', { name: 'x', format: 'mjml', mjml: MJML, html: 'x' }, ['/body/html']],
    ['the format mjml without it', { name: 'x', format: 'mjml', text: 'x' }, ['/body/mjml']],
    ['mjml that is none', { name: 'x', format: 'mjml', mjml: '<p>x</p>' }, ['/body/mjml']],
    ['mjml whose Liquid is wrong', { name: 'x', format: 'mjml', mjml: `${MJML}{% if %}` }, ['/body/mjml']],
    [
      'mjml with Liquid in a place that is not safe',
      {
        name: 'x',
        format: 'mjml',
        mjml: MJML.replace('<mj-text>', '<mj-text><script>{{ name }}</script>'),
      },
      ['/body/mjml'],
    ],
  ])('%s', async (_what, body, paths) => {
    const told = await post('/v1/templates', body);
    expect([told.status, pathsOf(told)]).toEqual([422, paths]);
  });
});

test('a change of the format leaves behind what the other format has not', async () => {
  const { id } = await data('/v1/templates', { name: 'x', html: '<p>x</p>' });
  const patch = (body: object) => service.live.patch(`/v1/templates/${id}`, body) as Promise<Told>;
  const told = await patch({ format: 'mjml', mjml: MJML });
  expect(told.body.data).toMatchObject({ format: 'mjml', html: null, markdown: null, mjml: MJML });
  expect(pathsOf(await patch({ markdown: 'x' }))).toEqual(['/body/markdown']);
});

test('a preview tells what MJML does not know, of a stored version too', async () => {
  const mjml = page(`\n  ${section('a').replace('<mj-text>', '<mj-text colr="red">')}`);
  const { id } = await data('/v1/templates', { name: 'x', subject: 'S', format: 'mjml', mjml });
  const warning = { code: 'mjml', message: 'mj-text: Attribute colr is illegal.', line: 2, column: 26 };
  for (const body of [{ templateId: id }, { subject: 'S', format: 'mjml', mjml }])
    expect((await data('/v1/templates/render-preview', body)).warnings).toContainEqual(warning);
});

test('a preview tells where an element of MJML lacks its end, in a layout too', async () => {
  const layout = await data('/v1/templates', {
    name: 'frame-of-ends',
    kind: 'layout',
    format: 'mjml',
    mjml: `<mjml>\n<mj-body>\n  ${section('<i>slanted')}{{ content }}</mj-body></mjml>`,
  });
  const mjml = `{{ name }}\n ${section('<b>bold')}`;
  const warnings = async (body: object) =>
    (await data('/v1/templates/render-preview', { subject: 'S', format: 'mjml', ...body })).warnings
      .filter(({ code }: { readonly code: string }) => code === 'unclosed_tag')
      .map(({ message, line, column }: Record<string, unknown>) => [message, line, column]);
  expect(await warnings({ mjml: page(mjml) })).toEqual([['This b is closed nowhere.', 2, 34]]);
  expect(await warnings({ mjml, layoutId: layout.id })).toEqual([
    [`${layout.id}: This i is closed nowhere.`, 3, 35],
    ['This b is closed nowhere.', 2, 34],
  ]);
});

const messagesOf = ({ body }: Told): string[] =>
  (body.error.details ?? []).map(({ message }: { readonly message: string }) => message);

test('a refusal tells the place in what its author wrote, in a layout too', async () => {
  const layout = await data('/v1/templates', {
    name: 'frame-of-places',
    kind: 'layout',
    format: 'mjml',
    mjml: '<mjml>\n<mj-head></mj-head>\n<mj-body>\n\n{{ content }}\n</mj-body></mjml>',
  });
  const refused = async (mjml: string, layoutId: string | null = layout.id) => {
    const told = await post('/v1/templates', { name: 'x', format: 'mjml', mjml, layoutId });
    expect([told.status, pathsOf(told)]).toEqual([422, ['/body/mjml']]);
    return messagesOf(told)[0];
  };
  expect(await refused('\n<mj-section><mj-column width="{{ w }}%"></mj-column></mj-section>')).toStartWith(
    'Line 2, column 31: MJML calculates with width',
  );
  expect(await refused('\n\n{% if a %}<mj-section></mj-section>{% endif %}')).toStartWith(
    'Line 3, column 1: ',
  );
  const style =
    '<mjml>\n<mj-head><mj-style>.a { color: {{ c }} }</mj-style></mj-head><mj-body></mj-body></mjml>';
  expect(await refused(style, null)).toStartWith(
    'Line 2, column 32: a value must not stand inside <script> or',
  );
});

test('text that MJML leaves out is noted where its author wrote it, in a layout too', async () => {
  const layout = await data('/v1/templates', {
    name: 'frame-of-notes',
    kind: 'layout',
    format: 'mjml',
    mjml: '<mjml>\n\n<mj-body>{{ content }}</mj-body></mjml>',
  });
  const text = {
    name: 'x',
    subject: 'S',
    format: 'mjml',
    mjml: 'Dear {{ n }}, plain text',
    layoutId: layout.id,
  };
  const { id } = await data('/v1/templates', text);
  const left = { code: 'mjml', line: 1, message: expect.stringMatching(/^MJML leaves out text between/) };
  expect((await data('/v1/templates/render-preview', { templateId: id })).warnings).toContainEqual({
    ...left,
    column: 1,
  });
  const told = (await service.live.get(`/v1/templates/${id}/check`)) as Told;
  expect(told.body.data.problems).toContainEqual(expect.objectContaining(left));
});

describe('an email', () => {
  test.each<[string, object]>([
    [
      'with a loop, an inlined style and values in attributes',
      {
        previewText: 'For {{ name }} & more',
        mjml: `<mjml lang="en"><mj-head><mj-style inline="inline">.a { color: red }</mj-style></mj-head><mj-body><mj-section background-url="{{ url }}"><mj-column><mj-text css-class="a">Hello {{ name }}</mj-text><mj-button href="{{ url }}">{{ n }}</mj-button></mj-column></mj-section><mj-raw>{% for i in items %}</mj-raw>${section('{{ i.t }}')}<mj-raw>{% endfor %}</mj-raw></mj-body></mjml>`,
      },
    ],
    [
      'with a branch within a section and a text part',
      {
        text: 'T {{ n }}',
        mjml: page(
          '<mj-section><mj-raw>{% if n > 2 %}</mj-raw><mj-column><mj-text>{{ name }}</mj-text></mj-column><mj-raw>{% else %}</mj-raw><mj-column><mj-text>few</mj-text></mj-column><mj-raw>{% endif %}</mj-raw></mj-section>',
        ),
      },
    ],
  ])('%s leaves as its preview shows it', async (_what, content) => {
    const template = { subject: 'S', format: 'mjml', ...content };
    const { id: templateId } = await data('/v1/templates', { name: 'x', ...template });
    const shown = await data('/v1/templates/render-preview', { templateId, variables: VALUES });
    const unstored = await data('/v1/templates/render-preview', { ...template, variables: VALUES });
    expect(unstored.html).toBe(shown.html);
    expect(shown.html).toContain('Ada &lt;b&gt;&amp;');
    const sender = { from: 'Shop <shop@sender.example>', to: 'ada@example.com' };
    const { id } = await data('/v1/emails', { ...sender, templateId, variables: VALUES });
    const email = await service.until(id, ({ status }) => status === 'delivered');
    expect([email.subject, email.html, email.text]).toEqual([shown.subject, shown.html, shown.text]);
    const [{ id: kept }] = (await service.live.get(`/v1/captured?emailId=${id}`)).body.data;
    const message = (await service.live.get(`/v1/captured/${kept}`)).body.data;
    const lines = (part: string): string => part.replace(/\r?\n/g, '\n').trimEnd();
    expect(lines(message.html)).toBe(lines(shown.html));
    expect(lines(message.text)).toBe(lines(shown.text));
  });
});
