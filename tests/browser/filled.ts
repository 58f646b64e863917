import type { Page } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, TEST_KEY } from '../support/service.ts';
import { asMember, type Dashboard, type Resource } from './dashboard.ts';

/** The addresses of what a filled workspace has, below the one of the application, by a name for each. */
export type Places = Readonly<Record<string, string>>;

const FIRST = ['Ada', 'Grace', 'Katherine', 'Margaret', 'Radia', 'Barbara', 'Frances', 'Annie'];
const LAST = ['Lovelace', 'Hopper', 'Johnson', 'Hamilton', 'Perlman', 'Liskov', 'Allen', 'Easley'];

/** The people of the workspace: more than one page of a list holds. */
const people = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    const [firstName = '', lastName = ''] = [FIRST[at % 8], LAST[Math.floor(at / 8) % 8]];
    return {
      email: `${firstName}.${lastName}.${at}@people.test`.toLowerCase(),
      firstName,
      lastName,
      properties: { plan: at % 3 === 0 ? 'pro' : 'free', seats: at % 20, signedUpAt: '2026-05-04' },
    };
  });

/** Fills the live workspace of who is signed in on that page, as weeks of use would. */
export async function fillWorkspace({ service }: Dashboard, page: Page): Promise<Places> {
  const make = async (path: string, body: object): Promise<Resource> => {
    const { status, data } = await asMember<Resource>(page, 'POST', `live/${path}`, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(data)}`);
    return data;
  };
  await asMember(page, 'PATCH', 'live/workspace', { branding: { address: '1 Main Street, Springfield' } });
  const domain = await make('domains', { name: 'acme.test' });
  await make('contacts/batch', { contacts: people(120) });
  const audience = await make('audiences', { name: 'Newsletter readers', description: 'Who asked for news' });
  await make(`audiences/${audience.id}/contacts`, { emails: people(40).map(({ email }) => email) });
  await make('audiences', {
    name: 'Pro customers with more than ten seats and a rather long name of the audience',
    type: 'dynamic',
    filter: { field: 'properties.plan', operator: 'eq', value: 'pro' },
  });
  const template = await make('templates', {
    name: 'Monthly news',
    alias: 'monthly-news',
    subject: 'News of {{ month }}',
    from: 'Acme <news@acme.test>',
    html: '<h1>Hello {{ contact.firstName }}</h1><p>The news of {{ month }}.</p>',
  });
  const campaignBody = {
    audienceId: audience.id,
    from: 'Acme <news@acme.test>',
    subject: 'What is new',
    html: '<p>Hello {{ contact.firstName }}</p><p><a href="{{ preferencesUrl }}">Preferences</a></p>',
  };
  const draft = await make('campaigns', { name: 'June news', ...campaignBody });
  const campaign = await make('campaigns', { name: 'May news', ...campaignBody });
  await make(`campaigns/${campaign.id}/send`, {});
  const flow = await make('flows', { name: 'Welcome newcomers' });
  const webhook = await make('webhooks', {
    url: 'https://hooks.acme.test/posthorn',
    events: ['bounced'],
  });
  for (const name of ['a', 'b', 'c']) await make('suppressions', { address: `${name}@gone.test` });
  const live = createClient(service.url, LIVE_KEY);
  const { body } = await live.post('/v1/emails', {
    from: 'Acme <shop@acme.test>',
    to: 'ada@people.test',
    subject: 'Your order 1842 is on its way',
    html: '<h1>Thank you</h1><p>It arrives on Monday.</p>',
    tags: [{ name: 'order', value: '1842' }],
  });
  const test = createClient(service.url, TEST_KEY);
  await test.post('/v1/emails', { from: 'a@acme.test', to: 'nobody', subject: 'Refused', text: 'Hi' });
  for (const outcome of ['bounced', 'complained', 'opened', 'clicked', 'delivered'])
    await test.post('/v1/emails', {
      from: 'shop@acme.test',
      to: `${outcome}@simulator.svc.test`,
      subject: `It was ${outcome}`,
      text: 'Hi',
    });
  await asMember(page, 'POST', 'test/inbound-routes', {
    domainId: domain.id,
    match: { type: 'catchAll' },
    action: { type: 'keep' },
  });
  const received = await asMember<Resource>(page, 'POST', 'test/received/test', {
    from: 'grace@people.test',
    to: 'help@acme.test',
    subject: 'A question',
    text: 'When does it arrive?',
  });
  const [captured] = await eventually('mail is captured', async () => {
    const { data } = await asMember<readonly Resource[]>(page, 'GET', 'live/captured');
    return data.length >= 41 ? data : undefined;
  });
  return {
    email: `live/emails/${body.data.id}`,
    'captured-message': `live/captured/${captured?.id}`,
    'received-message': `test/received/${received.data.id}`,
    domain: `live/domains/${domain.id}`,
    webhook: `live/webhooks/${webhook.id}`,
    contact: 'live/contacts/grace.lovelace.1@people.test',
    import: 'live/contacts/import',
    imports: 'live/contacts/imports',
    audience: `live/audiences/${audience.id}`,
    'new-audience': 'live/audiences/new',
    template: `live/templates/${template.id}`,
    'template-versions': `live/templates/${template.id}/versions`,
    'campaign-draft': `live/campaigns/${draft.id}`,
    campaign: `live/campaigns/${campaign.id}`,
    flow: `live/flows/${flow.id}`,
  };
}
