import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
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
const shown = ({ language, subject, html, text }: Email) => ({ language, subject, html, text });
const problemsOf = async (body: object): Promise<(string | number)[]> => {
  const { status, body: told } = await service.live.post('/v1/templates', { name: 'Wrong', ...body });
  return [status, ...(told.error?.details ?? []).map(({ path }: Email) => path)];
};

let count = 0;
/** A template in four languages, in a layout that has German, with a partial that has Portuguese. */
async function aSet(): Promise<{
  readonly template: Email;
  readonly layout: Email;
  readonly footer: Email;
  readonly n: number;
}> {
  const n = ++count;
  const make = (kind: string, alias: string, more: object) =>
    post('/v1/templates', { name: alias, kind, alias: `${alias}-${n}`, language: 'en', ...more });
  const footer = await make('partial', 'tfoot', {
    html: '<footer>Bye {{ who }}</footer>',
    text: '-- Bye {{ who }}',
    variables: [{ key: 'who', required: true }],
    translations: { pt: { html: '<footer>Tchau {{ who }}</footer>', text: '-- Tchau {{ who }}' } },
  });
  const layout = await make('layout', 'tbase', {
    html: `<html><body>{{ content }}{% render 'tfoot-${n}', who: name %}</body></html>`,
    text: `{{ content }}\n{% render 'tfoot-${n}', who: name %}`,
    translations: {
      de: {
        html: `<html><body><b>Zeitung</b>{{ content }}{% render 'tfoot-${n}', who: name %}</body></html>`,
        text: '{{ content }}',
      },
    },
  });
  const template = await make('template', 'tnews', {
    subject: 'News for {{ name }}',
    from: SENDER.from,
    layoutId: `tbase-${n}`,
    html: '<p>Hello {{ name }}, {{ seats | plural: one: "# seat", other: "# seats" }}</p>',
    text: 'Hello {{ name }}',
    translations: {
      de: {
        subject: 'Neues für {{ name }}',
        html: '<p>Guten Tag {{ name }}, {{ seats | plural: one: "# Platz", other: "# Plätze" }}</p>',
        text: 'Guten Tag {{ name }}',
      },
      pt: { html: '<p>Oi {{ name }}</p>', text: 'Oi {{ name }}' },
      ar: { subject: 'أخبار {{ name }}', html: '<p>مرحبا {{ name }}</p>', text: 'مرحبا {{ name }}' },
    },
  });
  return { template, layout, footer, n };
}
const VALUES = { name: 'Zoë <b>', seats: 1_200 };
const EN = {
  language: 'en',
  subject: 'News for Zoë <b>',
  html: '<html lang="en" dir="ltr"><body><p>Hello Zoë &lt;b&gt;, 1,200 seats</p><footer>Bye Zoë &lt;b&gt;</footer></body></html>',
  text: 'Hello Zoë <b>\n-- Bye Zoë <b>',
};
const DE = {
  language: 'de',
  subject: 'Neues für Zoë <b>',
  html: '<html lang="de" dir="ltr"><body><b>Zeitung</b><p>Guten Tag Zoë &lt;b&gt;, 1.200 Plätze</p><footer>Bye Zoë &lt;b&gt;</footer></body></html>',
  text: 'Guten Tag Zoë <b>',
};
const PT = {
  language: 'pt',
  subject: 'News for Zoë <b>',
  html: '<html lang="pt" dir="ltr"><body><p>Oi Zoë &lt;b&gt;</p><footer>Tchau Zoë &lt;b&gt;</footer></body></html>',
  text: 'Oi Zoë <b>\n-- Tchau Zoë <b>',
};
const AR = {
  language: 'ar',
  subject: 'أخبار Zoë <b>',
  html: '<html lang="ar" dir="rtl"><body lang="ar" dir="rtl"><p>مرحبا Zoë &lt;b&gt;</p><footer>Bye Zoë &lt;b&gt;</footer></body></html>',
  text: 'مرحبا Zoë <b>\n-- Bye Zoë <b>',
};

describe('a template in several languages', () => {
  test('a preview and an email are in the one that is asked for, the one that contains it, or the own one', async () => {
    const { template } = await aSet();
    expect(template).toMatchObject({ language: 'en', languages: ['ar', 'de', 'pt'] });
    const cases = [
      [undefined, EN],
      ['en-GB', EN],
      ['de', DE],
      ['DE-at', DE],
      ['pt-BR', PT],
      ['ar', AR],
      ['ja', EN],
    ] as const;
    for (const [language, expected] of cases) {
      const asked = { templateId: template.id, variables: VALUES, ...(language && { language }) };
      expect(shown(await preview(asked))).toEqual(expected);
      expect(shown(await sent(asked))).toEqual(expected);
    }
    const listed = await get('/v1/emails?limit=1');
    expect(listed[0].language).toBe('en');
  });

  test('a preview tells what is not translated', async () => {
    const { template, n } = await aSet();
    const codes = async (language: string) =>
      (await preview({ templateId: template.id, variables: VALUES, language })).warnings
        .filter(({ code }: Email) => code.startsWith('untranslated'))
        .map(({ code, message }: Email) => `${code}: ${message}`);
    expect(await codes('en-GB')).toEqual([]);
    expect(await codes('ja')).toEqual([
      'untranslated: The content has no translation into ja, and is shown in its own language, en.',
    ]);
    expect(await codes('pt-BR')).toEqual([
      'untranslated_subject: The translation pt has no subject: that of the template is sent.',
      `untranslated_layer: These layouts and partials have no translation into pt, and are shown in their own language: tbase-${n}.`,
    ]);
  });

  test('a batch, SMTP, a flow and a test send have the language that they name, or that of the contact', async () => {
    const { template, n } = await aSet();
    const batch = await post('/v1/emails/batch', {
      emails: [
        { ...SENDER, templateId: template.alias, variables: VALUES, language: 'de' },
        { ...SENDER, templateId: template.alias, variables: VALUES, language: 'pt-PT' },
      ],
    });
    expect(shown(await get(`/v1/emails/${batch[0].id}`))).toEqual(DE);
    expect(shown(await get(`/v1/emails/${batch[1].id}`))).toEqual(PT);

    const auth = { user: 'svc', pass: service.keys.live };
    const mailer = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth });
    const headers = { 'X-Svc-Template': template.alias, 'X-Svc-Variables': JSON.stringify(VALUES) };
    const mail = { ...SENDER, text: 'ignored', headers: { ...headers, 'X-Svc-Language': 'ar' } };
    const { response } = await mailer.sendMail(mail);
    const [, smtpId] = /Accepted as (\w+)/.exec(response) ?? [];
    expect(shown(await get(`/v1/emails/${smtpId}`))).toEqual(AR);
    const wrong = mailer.sendMail({ ...mail, headers: { ...headers, 'X-Svc-Language': 'xx' } });
    expect(await wrong.catch((error: Error) => error.message)).toContain('language tag');

    const config = { templateId: template.id, variables: VALUES };
    for (const [language, own, expected] of [
      [undefined, 'de_AT', DE],
      ['ar', 'de', AR],
      [undefined, 'nonsense', EN],
    ] as const) {
      const flow = await post('/v1/flows', {
        name: 'Order',
        trigger: { type: 'manual' },
        steps: [{ key: 'mail', type: 'sendEmail', config: { ...config, ...(language && { language }) } }],
      });
      await post(`/v1/flows/${flow.id}/activate`, {});
      const email = `flow-${n}-${language}-${own}@example.com`.toLowerCase();
      const contact = await post('/v1/contacts', { email, properties: { language: own } });
      const walked = await post(`/v1/flows/${flow.id}/simulate`, {
        contact: { contactId: contact.id },
      }).catch(() => null);
      if (walked) expect(walked.path[0].email.subject).toBe(expected.subject);
      const begun = await post(`/v1/flows/${flow.id}/runs`, { contactId: contact.id });
      const run = await eventually('the run ends', async () => {
        const told = await get(`/v1/flows/runs/${begun.id}`);
        return told.endedAt === null ? undefined : told;
      });
      expect(shown(await get(`/v1/emails/${run.log[0].emailId}`))).toEqual(expected);
    }

    const test = { to: ['ada@sender.example'], variables: VALUES, language: 'de' };
    const tested = await post(`/v1/templates/${template.id}/test-send`, test);
    expect(shown(await get(`/v1/emails/${tested.id}`))).toEqual({ ...DE, subject: `[Test] ${DE.subject}` });
  });

  test('each recipient of a campaign gets the language of the contact, and the emails tell it', async () => {
    const { template, n } = await aSet();
    const audience = await post('/v1/audiences', { name: `Languages ${n}`, type: 'static' });
    const people = { de: DE, 'pt-BR': PT, ar: AR, ja: EN, '': EN } as const;
    for (const language of Object.keys(people)) {
      const email = `person-${n}-${language || 'none'}@example.com`.toLowerCase();
      const contact = await post('/v1/contacts', { email, properties: language ? { language } : {} });
      await post(`/v1/audiences/${audience.id}/contacts`, { contactIds: [contact.id] });
    }
    const said = { name: 'News', audienceId: audience.id, templateId: template.id, variables: VALUES };
    const send = async (more: object): Promise<Email[]> => {
      const campaign = await post('/v1/campaigns', { ...said, ...more });
      await post(`/v1/campaigns/${campaign.id}/send`, {});
      const list = await eventually('the campaign leaves', async () => {
        const emails = await get(`/v1/emails?campaignId=${campaign.id}`);
        const isOver = emails.length === 5 && emails.every(({ status }: Email) => status === 'delivered');
        return isOver ? emails : undefined;
      });
      return Promise.all(list.map(({ id }: Email) => get(`/v1/emails/${id}`)));
    };
    const emails = await send({});
    for (const [language, expected] of Object.entries(people)) {
      const email = emails.find(({ to }) => to[0].includes(`-${(language || 'none').toLowerCase()}@`));
      expect(email && { language: email.language, subject: email.subject }).toEqual({
        language: expected.language,
        subject: expected.subject,
      });
      const inside = /<body[^>]*>(.*?)<footer>/.exec(expected.html)?.[1] ?? '';
      expect(email?.html).toContain(inside);
    }
    const german = await send({ language: 'de-CH' });
    expect(german.map(({ language, subject }) => [language, subject])).toEqual(
      Array.from({ length: 5 }, () => ['de', DE.subject]),
    );
  });

  test('a campaign is shown as its contact would get it', async () => {
    const { template, n } = await aSet();
    const audience = await post('/v1/audiences', { name: `Shown ${n}`, type: 'static' });
    const contact = await post('/v1/contacts', {
      email: `shown-${n}@example.com`,
      properties: { language: 'ar' },
    });
    const said = { name: 'News', audienceId: audience.id, templateId: template.id, variables: VALUES };
    const campaign = await post('/v1/campaigns', said);
    const path = `/v1/campaigns/${campaign.id}/preview`;
    expect(await get(`${path}?contactId=${contact.id}`)).toMatchObject({
      language: 'ar',
      subject: AR.subject,
    });
    expect(await get(path)).toMatchObject({ language: 'en', subject: EN.subject });
  });
});

describe('translations', () => {
  test('a change names the languages that it replaces, and old versions give what they gave', async () => {
    const { template, footer, layout } = await aSet();
    const later = await patch(template.id, {
      translations: { de: { html: '<p>Neu</p>', text: 'Neu' }, pt: null },
    });
    expect(later).toMatchObject({ version: 2, languages: ['ar', 'de'] });
    const asked = { templateId: template.id, variables: VALUES };
    expect(shown(await preview({ ...asked, version: 1, language: 'de' }))).toEqual(DE);
    expect(shown(await preview({ ...asked, version: 1, language: 'pt' }))).toEqual(PT);
    expect((await preview({ ...asked, language: 'pt' })).language).toBe('en');
    const versions = await get(`/v1/templates/${template.id}/versions`);
    expect(versions.map(({ languages }: Email) => languages)).toEqual([
      ['ar', 'de'],
      ['ar', 'de', 'pt'],
    ]);
    expect((await get(`/v1/templates/${template.id}/versions/1`)).translations.pt.text).toBe('Oi {{ name }}');
    await post(`/v1/templates/${template.id}/restore`, { version: 1 });
    expect(shown(await preview({ ...asked, language: 'pt' }))).toEqual(PT);

    // A layer changes in one language; everything that uses it is updated and keeps its translations.
    await patch(footer.id, { translations: { pt: { html: '<footer>Até logo</footer>', text: 'Até logo' } } });
    expect(shown(await preview({ ...asked, language: 'pt' }))).toEqual(PT);
    const { users } = await post(`/v1/templates/${footer.id}/update-users`, {});
    expect(users.map(({ id, problem }: Email) => [id, problem])).toEqual([
      [layout.id, null],
      [template.id, null],
    ]);
    expect(users[1].changes.map(({ part, language }: Email) => `${part} ${language}`)).toEqual([
      'html pt',
      'text pt',
    ]);
    expect((await preview({ ...asked, language: 'pt' })).html).toContain('<footer>Até logo</footer>');
    expect(shown(await preview({ ...asked, language: 'ar' }))).toEqual(AR);
    expect((await patch(template.id, { translations: null })).languages).toEqual([]);
  });

  test('a wrong one is refused with its place', async () => {
    const html = '<p>x</p>';
    const translations = (given: object) => problemsOf({ html, language: 'en', translations: given });
    expect(await translations({ xx: { html } })).toEqual([422, '/body/translations/xx']);
    expect(await translations({ de: { html }, DE: { html } })).toEqual([422, '/body/translations/DE']);
    expect(await translations({ en: { html } })).toEqual([422, '/body/translations/en']);
    expect(await translations({ de: { subject: 'x' } })).toEqual([422, '/body/translations/de/html']);
    expect(await translations({ de: { markdown: 'x' } })).toEqual([422, '/body/translations/de/markdown']);
    expect(await translations({ de: { html, subject: 'a\nb' } })).toEqual([
      422,
      '/body/translations/de/subject',
    ]);
    expect(await translations({ de: { html: '{% if %}' } })).toEqual([422, '/body/translations/de/html']);
    expect(await translations({ de: { html: '<script>{{ x }}</script>' } })).toEqual([
      422,
      '/body/translations/de/html',
    ]);
    expect(await translations({ de: { html: "{% render 'no' %}" } })).toEqual([
      422,
      '/body/translations/de/html',
    ]);
    expect(await problemsOf({ html, language: 'klingon' })).toEqual([422, '/body/language']);
    const wrong = await service.live.post('/v1/emails', {
      ...SENDER,
      subject: 'x',
      text: 'x',
      language: 'xx',
    });
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([422, '/body/language']);
    const shownWrong = await service.live.post('/v1/templates/render-preview', { html, language: 'xx' });
    expect([shownWrong.status, shownWrong.body.error.details[0].path]).toEqual([422, '/body/language']);
  });

  test('are 50 at most, and 2 MiB together', async () => {
    const made = (many: number) => Object.fromEntries(TAGS.slice(0, many).map((tag) => [tag, { html: 'x' }]));
    const full = await post('/v1/templates', { name: 'Full', html: 'x', translations: made(50) });
    expect(full.languages).toHaveLength(50);
    expect(await problemsOf({ html: 'x', translations: made(51) })).toEqual([422, '/body/translations']);
    const large = (from: number, to: number) =>
      Object.fromEntries(TAGS.slice(from, to).map((tag) => [tag, { html: 'x'.repeat(262_144) }]));
    const { id } = await post('/v1/templates', { name: 'Large', html: 'x', translations: large(0, 3) });
    // A request has at most 1 MiB.
    await patch(id, { translations: large(3, 6) });
    expect((await patch(id, { translations: large(6, 8) })).languages).toHaveLength(8);
    const more = await service.live.patch(`/v1/templates/${id}`, { translations: { ja: { html: 'x' } } });
    expect([more.status, more.body.error.details[0].path]).toEqual([422, '/body/translations']);
  });

  test('in markdown and MJML say their language and begin at their side', async () => {
    const markdown = await post('/v1/templates', {
      name: 'Markdown',
      format: 'emailmd',
      subject: 'Hi',
      markdown: '# Hello',
      language: 'en',
      translations: { he: { markdown: '# שלום {{ name }}' } },
    });
    const hebrew = await preview({ templateId: markdown.id, language: 'he', variables: { name: '<i>' } });
    expect(hebrew.html).toContain('<html lang="he" dir="rtl"');
    expect(hebrew.html).toContain('&lt;i&gt;');
    // A `direction` of a cell would win over the `dir` of the document, and put the full stop on the wrong
    // side.
    expect(hebrew.html).not.toContain('direction:ltr');
    expect(hebrew.html).toMatch(/text-align:right[^>]*>\s*<h1>שלום/);
    const english = await preview({ templateId: markdown.id, language: 'en' });
    expect(english.html).not.toContain('rtl');
    const mjml = (text: string) =>
      `<mjml><mj-body><mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section></mj-body></mjml>`;
    const made = await post('/v1/templates', {
      name: 'MJML',
      format: 'mjml',
      subject: 'Hi',
      mjml: mjml('Hello'),
      translations: { fa: { mjml: mjml('سلام') } },
    });
    const persian = await preview({ templateId: made.id, language: 'fa' });
    expect(persian.html).toContain('<html lang="fa" dir="rtl"');
    expect(persian.html).not.toContain('dir="auto"');
    expect(persian.html).not.toContain('direction:ltr');
    expect(persian.html).toMatch(/text-align:right[^>]*>سلام/);
    // Nothing changes where no language is named.
    expect((await preview({ templateId: made.id })).html).toContain('<html lang="und" dir="auto"');
  });
});

const TAGS = (
  'AG AI AS AU BB BI BM BS BW BZ CA CK CM CY DM ER FJ FK GB GD GH GI GM GU GY HK IE IL IN IO JE ' +
  'JM KE KI KN KY LC LR LS MG MH MO MS MT MU MW MY NA NF NG NR'
)
  .split(' ')
  .map((region) => `en-${region}`);

test('a preview of unsaved content makes the language that it shows, and no other', async () => {
  const unsaved = {
    subject: 'Hi',
    html: '<p>Hello</p>',
    ownLanguage: 'en',
    translations: { de: { html: '<p>Hallo</p>' }, fr: { html: '<p>{% if %}</p>' } },
  };
  const asked = (language?: string) =>
    service.live.post('/v1/templates/render-preview', { ...unsaved, ...(language && { language }) });
  expect(ok(await asked()).html).toContain('Hello');
  const german = ok(await asked('de-CH'));
  expect([german.language, german.html]).toEqual(['de', '<div lang="de" dir="ltr"><p>Hallo</p></div>']);
  expect(german.warnings.map(({ code }: Email) => code)).toContain('untranslated_subject');
  const { status, body } = await asked('fr');
  expect([status, body.error.details[0].path]).toEqual([422, '/body/translations/fr/html']);
});
