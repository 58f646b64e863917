import { expect, test } from 'bun:test';
import {
  BARE_CONTACT,
  languagesOf,
  readyContent,
  usedOf,
} from '../../src/automation/campaigns/preview/content.ts';
import type { CampaignSettings } from '../../src/automation/campaigns/settings.ts';
import type { StoredContent, TemplateContents } from '../../src/automation/templates/commands.ts';
import { Failure } from '../../src/platform/errors/failure.ts';

const made = (language: string) => ({
  sources: {
    subject: language,
    previewText: null,
    html: `<a href="https://${language}.example">x</a>`,
    text: null,
  },
  names: [`contact.properties.in_${language}`],
  raw: [],
  slots: {},
  layered: null,
  notes: [],
});
const said = (language: string) => ({
  subject: language,
  previewText: null,
  html: '<p>',
  markdown: null,
  mjml: null,
  text: null,
});
const contentOf = (): StoredContent =>
  ({
    format: 'html',
    ...said('en'),
    variables: [],
    from: 'a@sender.example',
    replyTo: [],
    layoutId: null,
    language: 'en',
    ...made('en'),
    translations: { de: said('de'), fr: said('fr') },
    translated: { de: { ...made('de'), untranslated: [] }, fr: { ...made('fr'), untranslated: [] } },
  }) as unknown as StoredContent;

/** The contents of one template, which notes the languages that are rendered. */
function aTemplate() {
  const rendered: (string | null)[] = [];
  const content = contentOf();
  const contents = {
    find: async () => ({ row: { version: 1 }, content }),
    withLines: async (_: unknown, stored: StoredContent) => stored,
    render: async ({ content: { language, sources } }: { content: StoredContent }) => {
      rendered.push(language);
      return { parts: sources, names: {} };
    },
  } as unknown as TemplateContents;
  const ready = async (language: string | null, purpose: Parameters<typeof readyContent>[4]) => {
    rendered.length = 0;
    const settings = { ...SETTINGS, language } as unknown as CampaignSettings;
    const scope = { workspaceId: 'ws_1', livemode: true, defaults: { from: null, replyTo: null } };
    const found = await readyContent(contents, scope, settings, 0, purpose);
    if (found instanceof Failure) throw new Error(found.message);
    const languages = Object.keys(found.kept.content.translations).length + 1;
    return { rendered: [...rendered], languages, links: found.kept.links.map(({ url }) => url) };
  };
  return { ready };
}
const SETTINGS = {
  name: 'N',
  templateId: 'tpl_1',
  from: null,
  subject: null,
  previewText: null,
  replyTo: [],
  html: null,
  markdown: null,
  variables: {},
  audienceId: 'aud_1',
  canary: null,
};

test('a campaign is shown in the language of its contact alone, and a start tries and reads every one', async () => {
  const { ready } = aTemplate();
  const german = { ...BARE_CONTACT, properties: { language: 'de' } };
  expect(await ready(null, { contact: german })).toEqual({ rendered: ['de'], languages: 1, links: [] });
  expect(await ready('fr', { contact: german })).toEqual({ rendered: ['fr'], languages: 1, links: [] });
  expect(await ready(null, 'trial')).toEqual({ rendered: ['en', 'de', 'fr'], languages: 3, links: [] });
  const links = ['https://en.example', 'https://de.example', 'https://fr.example'];
  expect(await ready(null, 'start')).toEqual({ rendered: ['en', 'de', 'fr'], languages: 3, links });
  expect(await ready('fr', 'start')).toEqual({
    rendered: ['fr'],
    languages: 3,
    links: ['https://fr.example'],
  });
});

test('two campaigns with one template and other languages take the values that each of them uses', () => {
  const content = contentOf();
  const contact = { ...BARE_CONTACT, properties: { in_en: 1, in_de: 2, in_fr: 3, language: 'fr', more: 4 } };
  const used = (language: string | null) => {
    const { properties } = usedOf({ content, language }, contact);
    return properties;
  };
  for (let round = 1; round <= 2; round++) {
    expect(used('de')).toEqual({ in_de: 2 });
    expect(used('pt')).toEqual({ in_en: 1 });
    expect(used(null)).toEqual({ in_en: 1, in_de: 2, in_fr: 3, language: 'fr' });
  }
  expect(languagesOf({ content, language: null })).toHaveLength(3);
});
