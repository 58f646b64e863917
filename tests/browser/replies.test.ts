import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { aMail, handIn } from '../integration/received-door.ts';
import { type Client, createClient } from '../support/client.ts';
import { dovecotMissing, startDovecot } from '../support/dovecot.ts';
import { eventually } from '../support/eventually.ts';
import type { Email } from '../support/live-service.ts';
import { LIVE_KEY } from '../support/service.ts';
import { type Dashboard, openDashboard, ownerPage, pressOn, typeInto, waitForToast } from './dashboard.ts';
import { inspect } from './looks.ts';

const CUSTOMER = 'grace@customer.example';

let dashboard: Dashboard;
let page: Page;
let client: Client;
let port: number;

beforeAll(async () => {
  port = await freePort();
  dashboard = await openDashboard({
    env: { INBOUND_SMTP_PORT: String(port), EHLO_NAME: 'mail.acme.example' },
  });
  page = await ownerPage(dashboard);
  client = createClient(dashboard.service.url, LIVE_KEY);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const get = async (path: string): Promise<Email> => (await client.get(path)).body.data;

/** Makes something, and answers it. */
async function make(path: string, body: object): Promise<Email> {
  const made = await client.post(path, body);
  if (made.status >= 300) throw new Error(`${path}: ${JSON.stringify(made.body)}`);
  return made.body.data;
}

test('a customer answers a campaign, the flow takes another way, and the answer of a member joins the thread', async () => {
  const domain = await make('/v1/domains', { name: 'acme.example' });
  const match = { type: 'exact', localPart: 'support' };
  await make('/v1/inbound-routes', { domainId: domain.id, match, action: { type: 'keep' } });
  const contact = await make('/v1/contacts', { email: CUSTOMER, firstName: 'Grace', lastName: 'Hopper' });
  const audience = await make('/v1/audiences', { name: 'Customers', type: 'static' });
  await make(`/v1/audiences/${audience.id}/contacts`, { contactIds: [contact.id] });

  const campaign = await make('/v1/campaigns', {
    name: 'Autumn',
    audienceId: audience.id,
    from: 'Acme <news@acme.example>',
    replyTo: 'auto',
    subject: 'Our autumn news',
    html: '<p>Which colour do you like?</p>',
  });
  const flow = await make('/v1/flows', {
    name: 'Colours',
    trigger: { type: 'manual' },
    reentry: 'afterExit',
    steps: [
      {
        key: 'answered',
        type: 'condition',
        config: { filter: { and: [{ field: 'activity.replied', operator: 'eq', value: campaign.id }] } },
      },
      { key: 'yes', type: 'updateContact', config: { properties: { answered: 'yes' } } },
      { key: 'no', type: 'updateContact', config: { properties: { answered: 'no' } } },
    ],
    edges: [
      { from: 'answered', to: 'yes', when: 'met' },
      { from: 'answered', to: 'no', when: 'notMet' },
    ],
  });
  await client.post(`/v1/flows/${flow.id}/activate`, {});
  const answered = (value: string) =>
    eventually(`the flow says ${value}`, async () =>
      (await get(`/v1/contacts/${contact.id}`)).properties.answered === value ? true : undefined,
    );
  await make(`/v1/flows/${flow.id}/runs`, { contactId: contact.id });
  await answered('no');

  await make(`/v1/campaigns/${campaign.id}/send`, {});
  const copy = await eventually('the campaign arrives', async () => {
    const [found] = await get(`/v1/captured?recipient=${CUSTOMER}`);
    return found && get(`/v1/captured/${found.id}`);
  });
  const fieldOf = (message: Email, name: string): string =>
    message.headers.find((each: Email) => each.name.toLowerCase() === name)?.value ?? '';
  const address = fieldOf(copy, 'reply-to');
  expect(address).toMatch(/^r\+\w{48}@acme\.example$/);
  const campaignId = fieldOf(copy, 'message-id');
  const reply = {
    From: `Grace Hopper <${CUSTOMER}>`,
    To: address,
    Subject: 'Re: Our autumn news',
    'Message-ID': '<answer-1@customer.example>',
    'In-Reply-To': campaignId,
    References: campaignId,
  };
  const text =
    'Green, please!\n\nOn Fri, 20 Nov 2026 at 22:43, Acme <news@acme.example> wrote:\n> Which colour do you like?';
  const mail = aMail(reply, text.replaceAll('\n', '\r\n'));
  expect((await handIn(port, CUSTOMER, [address], mail)).at(-1)).toStartWith('250 ');
  await eventually('the reply is counted', async () =>
    (await get(`/v1/campaigns/${campaign.id}/stats`)).replied === 1 ? true : undefined,
  );
  await make(`/v1/flows/${flow.id}/runs`, { contactId: contact.id });
  await answered('yes');

  await page.goto(`${dashboard.service.url}/app/live/contacts/${contact.id}`);
  await page.getByRole('list', { name: 'Timeline' }).getByText('Replied').waitFor();
  await inspect(page, 'contact-replied');
  await pressOn(page.getByRole('link', { name: 'View reply' }));
  const conversation = page.getByRole('list', { name: 'Conversation' });
  await conversation.getByText('Green, please!').waitFor();
  expect(await conversation.getByText('Which colour do you like?').count()).toBe(0);
  await typeInto(page, { Answer: 'Green is on its way.' });
  await pressOn(page.getByRole('button', { name: 'Send answer' }));
  await waitForToast(page, 'Answer sent');
  await conversation.getByText('Green is on its way.').waitFor();
  await inspect(page, 'received-conversation');
  await page.goto(`${dashboard.service.url}/app/live/campaigns/${campaign.id}`);
  await page.getByText('Replied').first().waitFor();
  await inspect(page, 'campaign-replied');

  const answer = await eventually('the answer arrives', async () => {
    const found: Email[] = await get(`/v1/captured?recipient=${CUSTOMER}`);
    const latest = found.find(({ subject }) => subject === 'Re: Our autumn news');
    return latest && get(`/v1/captured/${latest.id}`);
  });
  expect(fieldOf(answer, 'from')).toBe('Acme <news@acme.example>');
  expect(fieldOf(answer, 'in-reply-to')).toBe('<answer-1@customer.example>');
  expect(fieldOf(answer, 'references').split(/\s+/)).toEqual([campaignId, '<answer-1@customer.example>']);
  expect(fieldOf(answer, 'reply-to')).toMatch(/^r\+\w{48}@acme\.example$/);
  const second = {
    ...reply,
    'Message-ID': '<answer-2@customer.example>',
    To: fieldOf(answer, 'reply-to'),
    'In-Reply-To': fieldOf(answer, 'message-id'),
  };
  await handIn(port, CUSTOMER, [fieldOf(answer, 'reply-to')], aMail(second, 'Thank you!'));
  const [last, first] = await get('/v1/received');
  expect(last).toMatchObject({ messageId: '<answer-2@customer.example>', threadId: first.threadId });
  // The mailbox of the customer has another message in between.
  const missing = dovecotMissing();
  if (missing !== null) console.log(`The threads of a mail program were not asked for, since ${missing}.`);
  else {
    await using dovecot = await startDovecot(['grace']);
    const other = aMail({ Subject: 'Re: Our autumn news' });
    await dovecot.append('grace', [copy.raw, mail, other, answer.raw, aMail(second, 'Thank you!')]);
    const threads = (await dovecot.threads('grace')).map((each) => each.toSorted());
    expect(threads.toSorted(([one = 0], [other = 0]) => one - other)).toEqual([[1, 2, 4, 5], [3]]);
  }
  expect(dashboard.complaints).toEqual([]);
});
