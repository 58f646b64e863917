import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { gifOf } from '../support/pictures.ts';
import { type Spamd, startSpamd } from '../support/spamd.ts';
import { startSite } from './checked-site.ts';
import { places, words } from './told-problems.ts';

let service: LiveService;
let spamd: Spamd;
let site: Bun.Server<undefined>;
const asked: string[] = [];

beforeAll(async () => {
  site = startSite(asked);
  spamd = await startSpamd();
  service = await startLiveService({ environment: { SPAMASSASSIN_URL: spamd.url } });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await spamd[Symbol.asyncDispose]();
  await site.stop(true);
});

const at = (path: string): string => `http://127.0.0.1:${site.port}${path}`;
const made = async (path: string, body: object): Promise<Email> => {
  const told = await service.live.post(path, body);
  if (told.status !== 201) throw new Error(JSON.stringify(told.body));
  return told.body.data;
};
const check = async (path: string, query = ''): Promise<Email[]> => {
  const told = await service.live.get(`${path}/check${query}`);
  if (told.status !== 200) throw new Error(JSON.stringify(told.body));
  return told.body.data.problems;
};
const draft = (audienceId: string, more: object) =>
  made('/v1/campaigns', { audienceId, name: 'C', from: 'News <news@sender.example>', ...more });
const template = (html: string, more: object = {}) =>
  made('/v1/templates', { name: 'T', subject: 'S', html, ...more });
const refusedLanguage = async (path: string): Promise<void> => {
  const { status, body } = await service.live.get(`${path}/check?language=xx-Nowhere`);
  expect(status).toBe(422);
  expect(body.error.details[0].path).toBe('/query/language');
};

describe('the check of a template', () => {
  test('tells links and images that do not answer, with the line of each', async () => {
    const { id } = await template(
      `<p>{% if a %}\n{% endif %}<a href="${at('/good')}">a</a><a href="${at('/moved')}">b</a>\n<a href="${at('/gone')}#there">c</a>\n` +
        `<a href="${at('/round')}">d</a><a href="${at('/broken')}">e</a>\n<a href="http://10.1.2.3.nowhere.invalid/">f</a></p>\n` +
        `<img alt="" src="${at('/page.png')}">\n<img alt="" src="${at('/heavy.png')}"><a href="${at('/only-get')}">g</a>`,
    );
    const problems = await check(`/v1/templates/${id}`);
    expect(places(problems, 'link_dead')).toEqual(['3 /html', '5 /html']);
    expect(words(problems, 'link_dead')).toContain('answers 404. Correct the address');
    expect(words(problems, 'link_dead')).toContain('has a host that does not exist');
    expect(places(problems, 'link_in_doubt')).toEqual(['4 /html', '4 /html']);
    expect(words(problems, 'image_dead')).toContain('answers with text/html, which is no image');
    expect(places(problems, 'image_dead')).toEqual(['6 /html']);
    expect(places(problems, 'image_heavy')).toEqual(['7 /html']);
    expect(words(problems, 'image_heavy')).toContain('1.2 MB');
    expect(asked).toContain('GET /only-get');
    const severities = problems.map(({ severity }) => severity);
    expect(severities).toEqual(severities.toSorted((a, b) => 'ewi'.indexOf(a[0]) - 'ewi'.indexOf(b[0])));
  });

  test('tells what mail programs drop, and dark mode, at the line of the layer that has it', async () => {
    const layout = await made('/v1/templates', {
      name: 'L',
      alias: 'check-layout',
      kind: 'layout',
      html: '<div>\n<video src="x.mp4"></video>{{ content }}</div>',
    });
    const { id } = await template(
      '<p style="color:#111">a</p>\n<p style="display:flex">b</p><img src="cid:a">',
      { layoutId: layout.id },
    );
    const problems = await check(`/v1/templates/${id}`);
    expect(places(problems, 'dropped')).toEqual(['2 /html', '2 /layers/0/html']);
    expect(words(problems, 'dropped')).toContain(
      'In check-layout: Outlook for Windows and Gmail leave out <video>',
    );
    expect(places(problems, 'dark_text')).toEqual(['1 /html']);
    expect(places(problems, 'no_dark_mode')).toEqual(['null null']);
    expect(places(problems, 'image_without_alt')).toEqual(['2 /html']);
  });

  test('knows a message that is as it should be', async () => {
    const { id } = await template(
      `<html><head><meta name="color-scheme" content="light dark"></head><body>${'<p>It left our warehouse this morning, and will be with you soon.</p>'.repeat(80)}</body></html>`,
    );
    const problems = await check(`/v1/templates/${id}`);
    // The stand-in takes everything for spam.
    expect(problems.map(({ code }) => code)).toEqual(['spam', 'spam_rule', 'spam_rule']);
    expect(spamd.asked.at(-1)).toContain('It left our warehouse');
  });

  test('tells braces that an editor has encoded, with their lines, and so does a preview', async () => {
    const html = '<p>Hi</p>\n<p>&#123;&#123; contact.firstName &#125;&#125;</p>\n<p>%7B%7Bname%7D%7D</p>';
    const { id } = await template(html);
    expect(places(await check(`/v1/templates/${id}`), 'encoded_placeholder')).toEqual(['2 /html', '3 /html']);
    const { body } = await service.live.post('/v1/templates/render-preview', { templateId: id });
    expect(words(body.data.warnings, 'encoded_placeholder')).toContain('An editor has encoded the braces');
  });

  test('counts placeholders without a value, tells the size, and places what mjml says', async () => {
    const { id } = await template(
      `<p>Hello {{ name }}\n{{ other | default: "x" }} {{ given }}</p>${'<b>x</b>'.repeat(12_000)}`,
      {
        variables: [{ key: 'given', required: true }],
      },
    );
    const problems = await check(`/v1/templates/${id}`);
    expect(places(problems, 'empty_placeholder')).toEqual(['1 /html']);
    expect(words(problems, 'clipped')).toContain('Gmail shows the first 102,400');
    const mjml = await made('/v1/templates', {
      name: 'M',
      subject: 's',
      format: 'mjml',
      mjml: `<mjml><mj-body><mj-section><mj-column>\n<mj-text nothing="x">a <a href="${at('/gone')}">b</a></mj-text></mj-column></mj-section></mj-body></mjml>`,
    });
    const told = await check(`/v1/templates/${mjml.id}`);
    expect(places(told, 'mjml')).toEqual(['2 /mjml']);
    expect(places(told, 'link_dead')).toEqual(['2 /mjml']);
    expect((await service.live.get('/v1/templates/tpl_01m8c4vz7k2q5w9e3r6t1y8u/check')).status).toBe(404);
    expect((await service.live.get(`/v1/templates/${id}/check?version=7`)).status).toBe(404);
  });

  test('checks a translation, at the lines of it and of the translation of its layout', async () => {
    const layout = await made('/v1/templates', {
      name: 'L',
      alias: 'check-in-languages',
      kind: 'layout',
      language: 'en',
      html: '<div>{{ content }}</div>',
      translations: { de: { html: '<div>\n\n<video src="x.mp4"></video>{{ content }}</div>' } },
    });
    const { id } = await template('<p>Hello</p>', {
      layoutId: layout.id,
      language: 'en',
      translations: {
        de: { subject: 'G', html: `<p>\n{{ wer }} <a href="${at('/gone')}">a</a></p>` },
        fr: { html: '<p>Salut</p>' },
      },
    });
    const own = await check(`/v1/templates/${id}`);
    expect(own.map(({ code }) => code)).not.toContain('link_dead');
    const german = await check(`/v1/templates/${id}`, '?language=de-AT');
    expect(places(german, 'link_dead')).toEqual(['2 /translations/de/html']);
    expect(places(german, 'empty_placeholder')).toEqual(['2 /translations/de/html']);
    expect(places(german, 'dropped')).toEqual(['3 /layers/0/translations/de/html']);
    const french = await check(`/v1/templates/${id}`, '?language=fr');
    expect(words(french, 'untranslated_subject')).toContain('that of the template is sent');
    expect(words(french, 'untranslated_layer')).toContain('check-in-languages');
    const polish = await check(`/v1/templates/${id}`, '?language=pl');
    expect(words(polish, 'untranslated')).toContain('no translation into pl');
    await refusedLanguage(`/v1/templates/${id}`);
  });

  test('tells the layers that are in another language than the own content', async () => {
    for (const [alias, kind, html] of [
      ['check-english-layout', 'layout', '<div>{{ content }}</div>'],
      ['check-english-partial', 'partial', '<i>Bye</i>'],
    ])
      await made('/v1/templates', { name: alias, alias, kind, language: 'en', html });
    const content = {
      html: "<p>Hallo{% render 'check-english-partial' %}</p>",
      layoutId: 'check-english-layout',
      translations: { fr: { subject: 'S', html: '<p>Salut</p>' } },
    };
    const { id } = await made('/v1/templates', { ...content, name: 'D', subject: 'S', language: 'de' });
    const told =
      'These layouts and partials have no translation into de, and are shown in their own language: check-english-partial, check-english-layout.';
    for (const query of ['', '?language=de', '?language=de-AT', '?language=pl'])
      expect(words(await check(`/v1/templates/${id}`, query), 'untranslated_layer')).toBe(told);
    expect(words(await check(`/v1/templates/${id}`, '?language=fr'), 'untranslated_layer')).toContain(
      'into fr, and are shown in their own language: check-english-layout.',
    );
    const { body } = await service.live.post('/v1/templates/render-preview', {
      ...content,
      ownLanguage: 'de',
    });
    expect(words(body.data.warnings, 'untranslated_layer')).toBe(told);
    const plain = await made('/v1/templates', { ...content, name: 'N', subject: 'S', translations: {} });
    expect(words(await check(`/v1/templates/${plain.id}`), 'untranslated_layer')).toBe('');
  });

  test.each([
    ['emailmd', 'See https://acme.example/tour or\n\n[the tour](/tour) ![a](images/a.png)', [3, 3]],
    [
      'mjml',
      '<mjml><mj-body><mj-section><mj-column>\n<mj-button href="/tour">a</mj-button>\n<mj-image alt="" src="images/a.png" /></mj-column></mj-section></mj-body></mjml>',
      [2, 3],
    ],
  ])('tells addresses without a host in %s', async (format, source, lines) => {
    const body = format === 'mjml' ? 'mjml' : 'markdown';
    const { id } = await made('/v1/templates', { name: 'R', subject: 's', format, [body]: source });
    const problems = await check(`/v1/templates/${id}`);
    expect(places(problems, 'relative_address')).toEqual(lines.map((line) => `${line} /${body}`));
  });

  test('tells the layer by its index in the answer of GET, also one that a translation alone uses', async () => {
    const bad = '<b>\n<video src="x.mp4"></video></b>';
    const aliases = ['check-of-all', 'check-of-german'];
    for (const alias of aliases)
      await made('/v1/templates', {
        name: 'P',
        alias,
        kind: 'partial',
        html: alias.endsWith('all') ? '<i>a</i>' : bad,
      });
    const { id } = await template("<p>{% render 'check-of-all' %}</p>", {
      language: 'en',
      translations: { de: { html: "<p>{% render 'check-of-german' %}</p>" } },
    });
    const { layers } = (await service.live.get(`/v1/templates/${id}`)).body.data;
    const german = (await service.live.get('/v1/templates/check-of-german')).body.data.id;
    const index = layers.findIndex(({ templateId }: Email) => templateId === german);
    expect([layers.length, index]).toEqual([2, 1]);
    expect(places(await check(`/v1/templates/${id}`, '?language=de'), 'dropped')).toEqual([
      '2 /layers/1/html',
    ]);
  });

  test('tells the translation of a layer that the own content takes by its language', async () => {
    const layout = await made('/v1/templates', {
      name: 'L',
      alias: 'check-of-own-language',
      kind: 'layout',
      language: 'en',
      html: '<div>{{ content }}</div>',
      translations: { de: { html: '<div>\n\n<video src="x.mp4"></video>{{ content }}</div>' } },
    });
    const { id } = await template('<p>Hallo</p>', { layoutId: layout.id, language: 'de' });
    expect(places(await check(`/v1/templates/${id}`), 'dropped')).toEqual([
      '3 /layers/0/translations/de/html',
    ]);
  });

  test('looks for a way out of a list in what has values of contacts, and in nothing else', async () => {
    const codes = async (html: string) =>
      (await check(`/v1/templates/${(await template(html)).id}`)).map(({ code }) => code);
    expect(await codes('<p>Hi {{ contact.firstName }}</p>')).toContain('no_unsubscribe_link');
    expect(await codes('<p>Hi {{ name }}</p>')).not.toContain('no_unsubscribe_link');
  });

  test('looks in the database for images of this service, and follows no link through it', async () => {
    const response = await fetch(`${service.url}/v1/assets`, {
      method: 'POST',
      body: gifOf({ width: 3, height: 1 }),
      headers: { authorization: `Bearer ${service.keys.live}`, 'content-type': 'image/gif' },
    });
    const { data } = (await response.json()) as Email;
    const lost = data.url.replace(/[0-9a-f]{8}\.gif$/, '00000000.gif');
    const { id } = await template(
      `<img alt="" src="${data.url}">\n<img alt="" src="${lost}"><a href="${new URL(data.url).origin}/c/click">a</a>`,
    );
    const problems = await check(`/v1/templates/${id}`);
    expect(places(problems, 'image_dead')).toEqual(['2 /html']);
    expect(words(problems, 'links_left_out')).toStartWith('1 links and images were not followed');
  });
});

describe('the check of a campaign', () => {
  test('counts the contacts of the audience for whom a placeholder stays empty', async () => {
    const { id: audienceId } = await made('/v1/audiences', { name: 'Checked' });
    const { body } = await service.live.post('/v1/contacts/batch', {
      contacts: [
        { email: 'a@people.example', firstName: 'Ada', properties: { plan: 'pro' } },
        { email: 'b@people.example', properties: { plan: 'pro' } },
        { email: 'c@people.example', firstName: 'Cy' },
        { email: 'd@people.example' },
      ],
    });
    const contactIds = body.data.map(({ id }: Email) => id);
    await service.live.post(`/v1/audiences/${audienceId}/contacts`, { contactIds });
    const campaign = await draft(audienceId, {
      subject: 'Hi {{ contact.firstName }}',
      html: '<p>{% if contact.lastName %}{{ contact.lastName }}{% endif %}\n{{ contact.properties.plan }} {{ contact.properties.town | default: "-" }}</p>',
    });
    const problems = await check(`/v1/campaigns/${campaign.id}`);
    const empty = problems.filter(({ code }) => code === 'empty_placeholder');
    expect(empty.map(({ message, line, path }) => `${line} ${path} ${message.slice(0, 68)}`)).toEqual([
      'null null {{ contact.firstName }} stays empty for 2 of 4 contacts. Write {{ co',
      '2 /html {{ contact.properties.plan }} stays empty for 2 of 4 contacts. Write',
    ]);
    expect(problems.map(({ code }) => code)).toContain('no_unsubscribe_link');
    const unset = await made('/v1/campaigns', { name: 'D', audienceId });
    expect((await check(`/v1/campaigns/${unset.id}`)).map(({ code }) => code)).toContain('not_rendered');
  });

  test('tells lines of its template as those of the template', async () => {
    const { id: audienceId } = await made('/v1/audiences', { name: 'Of a template' });
    const { id: templateId } = await template(
      '<p>a</p>\n<video></video><a href="{{ unsubscribeUrl }}">Leave</a>',
    );
    const campaign = await draft(audienceId, { templateId });
    const problems = await check(`/v1/campaigns/${campaign.id}`);
    expect(places(problems, 'dropped')).toEqual(['2 /templateId']);
    expect(places(problems, 'no_unsubscribe_link')).toEqual([]);
  });

  test('tells no line of a layer, whose source is not that of the campaign', async () => {
    const partial = { name: 'P', alias: 'check-in-campaign', kind: 'partial' };
    await made('/v1/templates', { ...partial, html: '<b>\n\n<video src="x.mp4"></video></b>' });
    const { id: audienceId } = await made('/v1/audiences', { name: 'Of a layer' });
    const html = "<p>a</p>\n{% render 'check-in-campaign' %}";
    const own = await draft(audienceId, { subject: 'S', html });
    const problems = await check(`/v1/campaigns/${own.id}`);
    expect(places(problems, 'dropped')).toEqual(['null /html']);
    expect(words(problems, 'dropped')).toStartWith('In check-in-campaign: ');
    const { id: templateId } = await template(html);
    const ofTemplate = await draft(audienceId, { subject: 'S', templateId });
    expect(places(await check(`/v1/campaigns/${ofTemplate.id}`), 'dropped')).toEqual(['null /templateId']);
  });
});

test('the check of a campaign takes a language, and that of the campaign over all others', async () => {
  const { id: audienceId } = await made('/v1/audiences', { name: 'In languages' });
  const { id: templateId } = await template('<p>Hello</p>', {
    language: 'en',
    translations: {
      de: { subject: 'G', html: '<p>Hallo</p>\n<video></video>' },
      fr: { subject: 'S', html: '<p>{{ contact.properties.town }}</p>' },
    },
  });
  await service.live.post(`/v1/audiences/${audienceId}/contacts`, {
    contactIds: [(await made('/v1/contacts', { email: 'town@people.example' })).id],
  });
  const campaign = await draft(audienceId, { templateId });
  const path = `/v1/campaigns/${campaign.id}`;
  const codes = async (query: string) => (await check(path, query)).map(({ code }) => code);
  expect(await codes('')).not.toContain('dropped');
  expect(places(await check(path, '?language=de'), 'dropped')).toEqual(['2 /templateId']);
  expect(await codes('?language=fr')).toContain('empty_placeholder');
  await service.live.patch(path, { language: 'de' });
  for (const query of ['', '?language=fr']) {
    const found = await codes(query);
    expect(found).toContain('dropped');
    expect(found).not.toContain('empty_placeholder');
  }
  await service.live.patch(path, { language: 'pl' });
  expect(words(await check(path), 'untranslated')).toContain('no translation into pl');
  await refusedLanguage(path);
});

test('the own content of a campaign is in its language, and the check tells the layers that are not', async () => {
  const layer = { name: 'Foot', kind: 'partial', language: 'en', html: '<i>Bye</i>' };
  await made('/v1/templates', { ...layer, alias: 'check-foot-english' });
  await made('/v1/templates', {
    ...layer,
    alias: 'check-foot-german',
    translations: { de: { html: '<i>Tschüs</i>' } },
  });
  const { id: audienceId } = await made('/v1/audiences', { name: 'Own content' });
  const { id } = await draft(audienceId, {
    subject: 'S',
    language: 'de',
    html: "<p>Hallo</p>{% render 'check-foot-english' %}{% render 'check-foot-german' %}",
  });
  const problems = await check(`/v1/campaigns/${id}`);
  expect(words(problems, 'untranslated')).toBe('');
  expect(words(problems, 'untranslated_layer')).toBe(
    'These layouts and partials have no translation into de, and are shown in their own language: check-foot-english.',
  );
  const { body } = await service.live.get(`/v1/campaigns/${id}/preview`);
  expect(body.data.language).toBe('de');
  expect(body.data.html).toContain('<i>Bye</i><i>Tschüs</i>');
  await service.live.patch(`/v1/campaigns/${id}`, { language: null });
  expect(words(await check(`/v1/campaigns/${id}`), 'untranslated_layer')).toBe('');
  expect(words(await check(`/v1/campaigns/${id}`, '?language=pl'), 'untranslated')).toContain('into pl');
});

test('the check of captured mail finds what was left in it, and no way out of a list', async () => {
  const captured = async (more: object): Promise<string> => {
    const id = await service.send(more);
    await service.until(id, ({ status }) => status === 'delivered');
    return (await service.live.get(`/v1/captured?emailId=${id}`)).body.data[0].id;
  };
  const left = await captured({ html: `<p>Hello {{ name }}</p>\n<svg></svg><a href="${at('/gone')}">a</a>` });
  const problems = await check(`/v1/captured/${left}`);
  expect(words(problems, 'unfilled_placeholder')).toContain('{{ name }}');
  expect(places(problems, 'dropped')).toEqual(['2 /html']);
  expect(places(problems, 'link_dead')).toEqual(['2 /html']);
  expect(places(problems, 'no_way_out')).toEqual([]);
  const hidden = await captured({
    html: '<p>News</p><p style="display:none"><a href="{{unsubscribeUrl}}">Leave</a></p>',
    text: 'News {{unsubscribeUrl}}',
  });
  expect(places(await check(`/v1/captured/${hidden}`), 'no_way_out')).toEqual(['null null']);
  const seen = await captured({ html: '<p>News</p><p><a href="{{unsubscribeUrl}}">Leave</a></p>' });
  expect(places(await check(`/v1/captured/${seen}`), 'no_way_out')).toEqual([]);
  expect((await service.test.get(`/v1/captured/${left}/check`)).status).toBe(404);
});
