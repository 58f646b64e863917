import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

let service: LiveService;
let port: number;
let workspaceId: string;

beforeAll(async () => {
  port = await freePort();
  service = await startLiveService({
    environment: { SUBMISSION_PORT: String(port), RATE_LIMIT_PREVIEW: '0' },
  });
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  workspaceId = row?.id ?? '';
});
afterAll(() => service[Symbol.asyncDispose]());

interface Told {
  readonly status: number;
  readonly body: Email;
}
const ok = ({ status, body }: Told): Email => {
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body.data;
};
const post = async (path: string, body: object): Promise<Email> => ok(await service.live.post(path, body));
const get = async (path: string): Promise<Email> => ok(await service.live.get(path));
const patch = async (id: string, body: object): Promise<Email> =>
  ok(await service.live.patch(`/v1/templates/${id}`, body));
const preview = (body: object): Promise<Email> => post('/v1/templates/render-preview', body);
const SENDER = { from: 'Shop <shop@sender.example>', to: 'ada@example.com' };
const sent = async (body: object): Promise<Email> =>
  get(`/v1/emails/${(await post('/v1/emails', { ...SENDER, ...body })).id}`);
const partsOf = ({ subject, html, text }: Email) => ({ subject, html, text });

let count = 0;
/** A layout and a template in it that takes three partials, with new names. */
async function aSet(): Promise<{
  readonly template: Email;
  readonly layout: Email;
  readonly footer: Email;
  readonly n: number;
}> {
  const n = ++count;
  const make = (kind: string, alias: string, more: object) =>
    post('/v1/templates', { name: alias, kind, alias: `${alias}-${n}`, ...more });
  const footer = await make('partial', 'footer', {
    html: '<footer>{{ site }} {{ year }}{% if off %} <a href="{{ off }}">Off</a>{% endif %}</footer>',
    text: '-- {{ site }} {{ off }}',
    variables: [
      { key: 'site', required: true },
      { key: 'year', type: 'number', fallback: 2025 },
    ],
  });
  await make('partial', 'hello', { html: '<h1>Hello {{ who }}</h1>', text: 'Hello {{ who }}' });
  await make('partial', 'go', { html: '<a href="{{ url }}">{{ what }}</a>' });
  const layout = await make('layout', 'base', {
    html: `<html><body>{{ content }}{% render 'footer-${n}', site: brand, off: unsubscribeUrl %}</body></html>`,
    text: `{{ content }}\n{% render 'footer-${n}', site: brand, off: unsubscribeUrl %}`,
    variables: [{ key: 'brand', fallback: 'Acme & Co' }],
  });
  const template = await make('template', 'order', {
    subject: `{% render 'hello-${n}', who: name %}`,
    from: SENDER.from,
    layoutId: `base-${n}`,
    html: `{% render 'hello-${n}', who: name %}{% render 'go-${n}', url: url, what: "Go" %}<p>{{ name }}</p>`,
    text: `{% render 'hello-${n}', who: name %}`,
  });
  return { template, layout, footer, n };
}
const VALUES = { name: 'Zoë <b>', url: 'https://x.example/?a=1&b=2' };
const EXPECTED = {
  subject: 'Hello Zoë <b>',
  html: '<html><body><h1>Hello Zoë &lt;b&gt;</h1><a href="https://x.example/?a=1&amp;b=2">Go</a><p>Zoë &lt;b&gt;</p><footer>Acme &amp; Co 2025 <a href="{{unsubscribeUrl}}">Off</a></footer></body></html>',
  text: 'Hello Zoë <b>\n-- Acme & Co {{unsubscribeUrl}}',
};

describe('a template with a layout and partials', () => {
  test('gives the same bytes in a preview, an email, a batch, over SMTP, in a campaign and in a flow', async () => {
    const { template, layout, footer, n } = await aSet();
    expect(template.layoutId).toBe(layout.id);
    expect(template.layers).toContainEqual({ templateId: footer.id, kind: 'partial', version: 1 });
    expect(partsOf(await preview({ templateId: template.id, variables: VALUES }))).toEqual(EXPECTED);
    const { kind, format, subject, html, text } = template;
    const unstored = { kind, format, subject, html, text, layoutId: layout.id };
    expect(partsOf(await preview({ ...unstored, variables: VALUES }))).toEqual(EXPECTED);
    expect(partsOf(await sent({ templateId: template.id, variables: VALUES }))).toEqual(EXPECTED);
    const batch = await post('/v1/emails/batch', {
      emails: [{ ...SENDER, templateId: template.alias, variables: VALUES }],
    });
    expect(partsOf(await get(`/v1/emails/${batch[0].id}`))).toEqual(EXPECTED);

    const auth = { user: 'svc', pass: service.keys.live };
    const mailer = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth });
    const headers = { 'X-Svc-Template': template.alias, 'X-Svc-Variables': JSON.stringify(VALUES) };
    const { response } = await mailer.sendMail({ ...SENDER, text: 'ignored', headers });
    const [, smtpId] = /Accepted as (\w+)/.exec(response) ?? [];
    expect(partsOf(await get(`/v1/emails/${smtpId}`))).toEqual(EXPECTED);

    const flow = await post('/v1/flows', {
      name: 'Order',
      trigger: { type: 'manual' },
      steps: [{ key: 'mail', type: 'sendEmail', config: { templateId: template.id, variables: VALUES } }],
    });
    await post(`/v1/flows/${flow.id}/activate`, {});
    const contact = await post('/v1/contacts', { email: `layers-${n}@example.com` });
    const begun = await post(`/v1/flows/${flow.id}/runs`, { contactId: contact.id });
    const run = await eventually('the run ends', async () => {
      const told = await get(`/v1/flows/runs/${begun.id}`);
      return told.endedAt === null ? undefined : told;
    });
    expect(partsOf(await get(`/v1/emails/${run.log[0].emailId}`))).toEqual(EXPECTED);

    const audienceId = await manyPeople(service.service.database, workspaceId, 1);
    const said = { name: 'Order', audienceId, templateId: template.id, variables: VALUES };
    const campaign = await post('/v1/campaigns', said);
    // A later version of the footer changes nothing of what the template was made of.
    await patch(footer.id, { html: '<footer>new</footer>' });
    await post(`/v1/campaigns/${campaign.id}/send`, {});
    const [email] = await eventually('the campaign leaves', async () => {
      const emails = await get(`/v1/emails?campaignId=${campaign.id}`);
      return emails[0]?.status === 'delivered' ? emails : undefined;
    });
    const kept = await get(`/v1/emails/${email.id}`);
    expect([kept.subject, kept.html, kept.text]).toEqual([EXPECTED.subject, EXPECTED.html, EXPECTED.text]);
  });

  test('keeps its layers in each version, until it is saved again or updated with all others', async () => {
    const { template, layout, footer, n } = await aSet();
    const later = await patch(footer.id, { html: '<footer>{{ site }} later</footer>' });
    expect(later).toMatchObject({ version: 2, usedBy: { count: 2 } });
    const variables = VALUES;
    expect((await preview({ templateId: template.id, variables })).html).toBe(EXPECTED.html);

    const path = `/v1/templates/${footer.id}/update-users`;
    const planned = await post(path, { dryRun: true });
    expect(planned).toMatchObject({ templateId: footer.id, version: 2, dryRun: true });
    expect(planned.users).toMatchObject([
      { id: layout.id, fromVersion: 1, toVersion: 2, problem: null },
      { id: template.id, fromVersion: 1, toVersion: 2, problem: null, changes: [{ part: 'html' }] },
    ]);
    expect((await get(`/v1/templates/${template.id}`)).version).toBe(1);
    const made = await post(path, {});
    expect(made.users.map(({ id }: Email) => id)).toEqual([layout.id, template.id]);
    const now = EXPECTED.html.replace(/ 2025 .*<\/footer>/, ' later</footer>');
    expect((await sent({ templateId: template.id, variables })).html).toBe(now);
    expect((await get(`/v1/templates/${template.id}`)).layers).toContainEqual({
      templateId: layout.id,
      kind: 'layout',
      version: 2,
    });
    // The old version gives what it gave, and a repetition finds nothing to do.
    expect((await preview({ templateId: template.id, version: 1, variables })).html).toBe(EXPECTED.html);
    expect((await post(path, {})).users).toEqual([]);
    await post(`/v1/templates/${template.id}/publish`, { version: 1 });
    expect((await sent({ templateId: template.id, variables })).html).toBe(EXPECTED.html);
    const restored = await post(`/v1/templates/${template.id}/restore`, { version: 1 });
    expect(restored.version).toBe(3);
    expect((await sent({ templateId: `order-${n}`, variables })).html).toBe(now);
  });

  test('is updated with all others or not at all', async () => {
    const { template, layout, footer } = await aSet();
    await patch(footer.id, { variables: [{ key: 'other', required: true }] });
    const path = `/v1/templates/${footer.id}/update-users`;
    const { users } = await post(path, { dryRun: true });
    expect(users).toMatchObject([
      { id: layout.id, toVersion: null, problem: expect.stringContaining('requires other') },
      { id: template.id, toVersion: null, problem: expect.stringContaining('requires other') },
    ]);
    const refused = await service.live.post(path, {});
    expect([refused.status, refused.body.error.details.length]).toEqual([422, 2]);
    expect((await get(`/v1/templates/${layout.id}`)).version).toBe(1);
  });

  test('a template that others use names them, and is neither deleted nor renamed', async () => {
    const { template, layout, footer, n } = await aSet();
    const { usedBy } = await get(`/v1/templates/${footer.id}`);
    expect(usedBy).toEqual({
      count: 2,
      templates: [template, layout]
        .map(({ id, name, alias, kind }) => ({ id, name, alias, kind }))
        .toSorted((one, other) => (one.id < other.id ? 1 : -1)),
    });
    const gone = await service.live.delete(`/v1/templates/${footer.id}`);
    expect([gone.status, gone.body.error.message]).toEqual([
      409,
      'The template is used by other templates, which its usedBy lists.',
    ]);
    const renamed = await service.live.patch(`/v1/templates/${footer.id}`, { alias: `other-${n}` });
    expect([renamed.status, renamed.body.error.code]).toEqual([409, 'CONFLICT']);
    // A layout is kept by its ID.
    await patch(layout.id, { alias: `renamed-${n}` });
    expect((await patch(template.id, { text: 'Hi' })).layoutId).toBe(layout.id);
    expect((await service.live.delete(`/v1/templates/${template.id}`)).status).toBe(204);
    expect((await service.live.delete(`/v1/templates/${layout.id}`)).status).toBe(204);
    expect((await service.live.delete(`/v1/templates/${footer.id}`)).status).toBe(204);
  });
});

describe('a layout or partial', () => {
  test('is not sent by itself: in an email, a test, a batch, a campaign or a flow', async () => {
    const { layout, footer } = await aSet();
    const audienceId = await manyPeople(service.service.database, workspaceId, 1);
    for (const [templateId, kind] of [
      [layout.id, 'layout'],
      [footer.id, 'partial'],
    ]) {
      const flow = await post('/v1/flows', {
        name: 'x',
        trigger: { type: 'manual' },
        steps: [{ key: 'mail', type: 'sendEmail', config: { templateId } }],
      });
      const told = [
        await service.live.post('/v1/emails', { ...SENDER, subject: 'x', templateId }),
        await service.live.post(`/v1/templates/${templateId}/test-send`, { to: ['ada@sender.example'] }),
        await service.live.post('/v1/campaigns', { name: 'x', audienceId, templateId }),
        await service.live.post(`/v1/flows/${flow.id}/activate`, {}),
      ];
      for (const { status, body } of told) {
        expect([status, body.error?.details?.[0].path]).toEqual([
          422,
          expect.stringMatching(/templateId$|^\/params\/id$/),
        ]);
        expect(body.error.details[0].message).toContain(`is a ${kind}, which is not sent by itself`);
      }
      const batch = await post('/v1/emails/batch', { emails: [{ ...SENDER, subject: 'x', templateId }] });
      expect(batch[0].error.details[0].path).toBe('/body/emails/0/templateId');
    }
  });

  test('is seen with sample content, and listed by its kind', async () => {
    const { layout, footer } = await aSet();
    const shown = await preview({ templateId: layout.id });
    expect(shown.html).toContain(
      '<body><p>The content of a template is shown here.</p><footer>Acme &amp; Co',
    );
    expect(shown.text).toStartWith('The content of a template is shown here.');
    expect((await preview({ templateId: footer.id, variables: { site: 'S' } })).html).toBe(
      '<footer>S 2025</footer>',
    );
    const listed = await get('/v1/templates?kind=layout&limit=100');
    expect(new Set(listed.map(({ kind }: Email) => kind))).toEqual(new Set(['layout']));
    expect(listed.map(({ id }: Email) => id)).toContain(layout.id);
  });

  test.each<[string, object, string]>([
    ['a subject', { kind: 'layout', html: '{{ content }}', subject: 'x' }, '/body/subject'],
    ['a sender', { kind: 'partial', html: 'x', from: 'a@b.example' }, '/body/from'],
    ['a reply address', { kind: 'partial', html: 'x', replyTo: 'a@b.example' }, '/body/replyTo'],
    ['a layout around a partial', { kind: 'partial', html: 'x', layoutId: 'x' }, '/body/layoutId'],
    ['no content', { kind: 'layout', html: '<p>x</p>' }, '/body/html'],
    ['content twice', { kind: 'layout', html: 'x', text: '{{ content }}{{ content }}' }, '/body/html'],
    [
      'a frontmatter',
      { kind: 'partial', format: 'emailmd', markdown: '---\ntheme: dark\n---\nx' },
      '/body/markdown',
    ],
    ['a kind that is none', { kind: 'page', html: 'x' }, '/body/kind'],
  ])('is refused with %s', async (_what, body, path) => {
    const told = await service.live.post('/v1/templates', { name: 'x', ...body });
    expect([told.status, told.body.error.details[0].path]).toEqual([422, path]);
  });

  test('stays what it is', async () => {
    const { template } = await aSet();
    expect((await service.live.patch(`/v1/templates/${template.id}`, { kind: 'layout' })).status).toBe(422);
  });
});

describe('in other formats', () => {
  const make = (body: object) => post('/v1/templates', { name: 'x', subject: 'S {{ name }}', ...body });
  const part = (alias: string, kind: string, body: object) =>
    post('/v1/templates', { name: alias, alias, kind, ...body });

  test('markdown is in its layout and takes partials', async () => {
    await part('md-note', 'partial', { format: 'emailmd', markdown: '**{{ t }}**\n\nSecond' });
    const markdown = '{{ content }}\n\n---\n\n{{ workspace.name }} {% render "md-note", t: name %}';
    await part('md-base', 'layout', { format: 'emailmd', markdown });
    const made = await make({
      format: 'emailmd',
      layoutId: 'md-base',
      previewText: 'P {{ name }}',
      markdown: '# Hello {{ name }}\n\n{% render "md-note", t: "a*b" %}\n\nEnd',
    });
    const email = await sent({ templateId: made.id, variables: { name: '*Ada* <' } });
    expect(email.html).toMatch(
      /Hello \*Ada\* &lt;[\s\S]*a\*b[\s\S]*Second[\s\S]*End[\s\S]*\*Ada\* &lt;[\s\S]*Second/,
    );
    expect(email.text).toMatch(
      /Hello \*Ada\* <[\s\S]*a\*b[\s\S]*Second[\s\S]*End[\s\S]*\*Ada\* <[\s\S]*Second/,
    );
    expect(email.html).not.toContain('{%');
  });

  test('MJML is in its layout and takes partials, in a campaign too', async () => {
    const section = (text: string) =>
      `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;
    await part('mj-foot', 'partial', { format: 'mjml', mjml: section('Foot {{ t }}') });
    await part('mj-word', 'partial', { html: '<i>{{ t }}</i>' });
    await part('mj-base', 'layout', {
      format: 'mjml',
      mjml: '<mjml lang="en">\n<mj-body>\n{{ content }}\n{% render "mj-foot", t: name %}<mj-raw><a href="{{ unsubscribeUrl }}">Off</a></mj-raw><mj-foo></mj-foo></mj-body></mjml>',
    });
    const { id } = await make({
      format: 'mjml',
      layoutId: 'mj-base',
      from: SENDER.from,
      mjml: `${section('Hi {{ name }} {% render "mj-word", t: name %}')}\n<mj-bar></mj-bar>`,
    });
    const shown = await preview({ templateId: id, variables: { name: 'A & B' } });
    expect(shown.html).toMatch(/Hi A &amp; B <i>A &amp; B<\/i>[\s\S]*Foot A &amp; B/);
    // A note of MJML names the line of the layer that it is in.
    const notes = shown.warnings.filter(({ code }: Email) => code === 'mjml');
    expect(notes.map(({ line, message }: Email) => [line, /^mj-base: /.test(message)])).toEqual([
      [2, false],
      [4, true],
    ]);
    const audienceId = await manyPeople(service.service.database, workspaceId, 1);
    const campaign = await post('/v1/campaigns', {
      name: 'MJML',
      audienceId,
      templateId: id,
      variables: { name: 'A & B' },
    });
    await post(`/v1/campaigns/${campaign.id}/send`, {});
    const [email] = await eventually('the campaign leaves', async () => {
      const emails = await get(`/v1/emails?campaignId=${campaign.id}`);
      return emails[0]?.status === 'delivered' ? emails : undefined;
    });
    expect((await get(`/v1/emails/${email.id}`)).html).toBe(shown.html);
  });

  test('a campaign with its own subject takes the layers of the version', async () => {
    const alias = 'lines-note';
    const note = await part(alias, 'partial', { format: 'emailmd', markdown: 'First {{ t }}', text: 'T' });
    const made = await make({
      format: 'emailmd',
      from: SENDER.from,
      markdown: `{% render "${alias}", t: 1 %}`,
    });
    await patch(note.id, { markdown: 'Later {{ t }}' });
    const audienceId = await manyPeople(service.service.database, workspaceId, 1);
    const said = { name: 'x', audienceId, templateId: made.id, previewText: 'P' };
    const campaign = await post('/v1/campaigns', { ...said, subject: `Mine {% render "${alias}" %}` });
    await post(`/v1/campaigns/${campaign.id}/send`, {});
    const [email] = await eventually('the campaign leaves', async () => {
      const emails = await get(`/v1/emails?campaignId=${campaign.id}`);
      return emails[0]?.status === 'delivered' ? emails : undefined;
    });
    const kept = await get(`/v1/emails/${email.id}`);
    expect([kept.subject, /First 1/.test(kept.html), /Later/.test(kept.html)]).toEqual([
      'Mine T',
      true,
      false,
    ]);
  });
});

test('names that a layout or its content sets for the other are not missing', async () => {
  const html = '{% assign brand = "Acme" %}<main>{{ content }}{{ sign }}{{ place }}</main>';
  const { id: layoutId } = await post('/v1/templates', { name: 'Setting', kind: 'layout', html });
  const own = '<p>{{ brand }} {{ name }}</p>{% capture sign %}{{ brand }}{% endcapture %}';
  const content = { subject: 'S {{ brand }}', html: own, layoutId };
  expect((await preview(content)).missingVariables).toEqual(['brand', 'name', 'place']);
  const shown = await preview({ ...content, subject: 'S' });
  expect([shown.html, shown.missingVariables]).toEqual(['<main><p>Acme </p>Acme</main>', ['name', 'place']]);
});

test('a preview lists required variables without a value, also those that nothing writes and those of a layout', async () => {
  const [a, b, brand] = ['a', 'b', 'brand'].map((key) => ({ key, required: true }));
  const frame = { name: 'Frame', kind: 'layout', html: '<main>{{ content }}</main>', variables: [brand] };
  const { id: layoutId } = await post('/v1/templates', frame);
  const order = { html: '<p>{{ b | default: "x" }}</p>', layoutId, declared: [a, b, { key: 'c' }] };
  expect((await preview({ ...order, variables: { a: null } })).missingVariables).toEqual(['a', 'b', 'brand']);
  const variables = { a: '1', b: '2', brand: '3' };
  expect((await preview({ ...order, variables })).missingVariables).toEqual([]);
  const { id: templateId } = await post('/v1/templates', { name: 'T', html: '<p>x</p>', variables: [a] });
  expect((await preview({ templateId })).missingVariables).toEqual(['a']);
});
