import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  asMember,
  type Dashboard,
  openDashboard,
  ownerPage,
  press,
  pressOn,
  signIn,
  waitForToast,
  withoutDialog,
} from './dashboard.ts';
import { inspect } from './looks.ts';

// The request has what the screen shows, nothing typed is lost, and a save never undoes another person's
// save.

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await ownerPage(dashboard);
  await asMember(page, 'POST', 'live/domains', { name: 'acme.test' });
  await asMember(page, 'PATCH', 'live/workspace', { branding: { address: '1 Main Street' } });
  await asMember(page, 'POST', 'live/audiences', { name: 'Readers' });
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const heading = (name: string | RegExp, on = page) =>
  on.getByRole('heading', { name, level: 1, exact: true }).waitFor();
const made = async (path: string, body: object) =>
  (await asMember<{ id: string }>(page, 'POST', path, body)).data.id;
const stored = async <Data>(path: string) => (await asMember<Data>(page, 'GET', path)).data;
const field = (name: string, on = page) => on.getByLabel(name, { exact: true });

let number = 0;
/** A draft to a new audience of one. */
async function aCampaign(more: object = {}): Promise<string> {
  number += 1;
  const audienceId = await made('live/audiences', { name: `People ${number}` });
  const email = `reader${number}@people.test`;
  await asMember(page, 'POST', 'live/contacts', { email });
  await asMember(page, 'POST', `live/audiences/${audienceId}/contacts`, { emails: [email] });
  const content = { from: 'Acme <news@acme.test>', subject: 'The old subject', html: '<p>Old</p>' };
  return made('live/campaigns', { name: `Campaign ${number}`, audienceId, ...content, ...more });
}
const aTemplate = () =>
  made('live/templates', {
    name: 'Receipt',
    subject: 'The old subject',
    html: '<p>Old</p>',
    from: 'Acme <shop@acme.test>',
  });
const DELAY = { key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } };
const aFlow = () =>
  made('live/flows', {
    name: 'Welcome',
    trigger: { type: 'manual' },
    entry: 'wait',
    steps: [DELAY],
  });

/** Writes in the panel of the opened step, once it has the focus as for a person. */
const fillAmount = async (amount: string) => {
  const panel = page.getByRole('region', { name: 'Wait' });
  await panel.locator(':focus').waitFor();
  await panel.getByRole('spinbutton').fill(amount);
};

const answer = (action: string) =>
  pressOn(
    page.getByRole('dialog', { name: 'You have unsaved changes' }).getByRole('button', { name: action }),
  );
const capturedSubjects = async () =>
  (await stored<readonly { readonly subject: string }[]>('live/captured')).map(({ subject }) => subject);

describe('what is sent is what is on the screen', () => {
  test('a campaign is saved before it is sent, and not sent when it cannot be saved', async () => {
    const id = await aCampaign();
    await page.goto(`${url}/app/live/campaigns/${id}`);
    await field('Subject').fill('Changed but not saved');
    await page.getByText('Not saved', { exact: true }).waitFor();
    await field('From').fill('nobody');
    await press(page, 'Send or schedule');
    await page.locator('[name=from][aria-invalid=true]').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await field('From').fill('Acme <news@acme.test>');
    await press(page, 'Send or schedule');
    const dialog = page.getByRole('dialog', { name: /^Send/ });
    await dialog.getByText('Changed but not saved').waitFor();
    await dialog.getByText('Acme <news@acme.test>').waitFor();
    await dialog.getByText(`People ${number}`).waitFor();
    await inspect(page, 'editing-send');
    await dialog.getByRole('textbox').fill('1');
    await press(page, 'Send now');
    await waitForToast(page, 'Campaign started');
    await eventually('it has arrived with the new subject', async () => {
      const subjects = await capturedSubjects();
      expect(subjects).not.toContain('The old subject');
      return subjects.includes('Changed but not saved') || undefined;
    });
  });

  test('a change by another person while the dialog is open is not overwritten', async () => {
    const id = await aCampaign();
    await page.goto(`${url}/app/live/campaigns/${id}`);
    await press(page, 'Send or schedule');
    const dialog = page.getByRole('dialog', { name: /^Send/ });
    await dialog.getByText('The old subject').waitFor();
    await asMember(page, 'PATCH', `live/campaigns/${id}`, { subject: 'Of somebody else' });
    await dialog.getByRole('textbox').fill('1');
    await press(page, 'Send now');
    await dialog.getByText('The campaign has changed since you read it.', { exact: false }).waitFor();
    expect((await stored<{ status: string }>(`live/campaigns/${id}`)).status).toBe('draft');
  });

  test('a test of a template is what is written, and publishes nothing', async () => {
    const id = await aTemplate();
    await page.goto(`${url}/app/live/templates/${id}`);
    await field('Subject').fill('A subject to try');
    await press(page, 'Send test');
    const dialog = page.getByRole('dialog', { name: 'Send test email' });
    await dialog.getByText('A subject to try').waitFor();
    await dialog.getByText('which is not published', { exact: false }).waitFor();
    await pressOn(dialog.getByRole('button', { name: 'Send test' }));
    await waitForToast(page, 'Test email sent');
    await eventually(
      'the test has arrived',
      async () =>
        (await capturedSubjects()).some((subject) => subject.includes('A subject to try')) || undefined,
    );
    expect(await stored(`live/templates/${id}`)).toMatchObject({ version: 1, subject: 'The old subject' });
  });

  test('a flow is saved before it is tried and before it is activated', async () => {
    const id = await aFlow();
    await page.goto(`${url}/app/live/flows/${id}`);
    await pressOn(page.locator('[data-step="wait"]'));
    await fillAmount('3');
    await page.getByText('Not saved', { exact: true }).waitFor();
    await pressOn(page.getByRole('link', { name: 'Simulate' }));
    await press(page, 'Run simulation');
    await page.getByText('Run completed').waitFor();
    const amount = async () =>
      (await stored<{ steps: { config: { amount: number } }[] }>(`live/flows/${id}`)).steps[0]?.config.amount;
    expect(await amount()).toBe(3);
    await pressOn(page.getByRole('link', { name: 'Canvas' }));
    await pressOn(page.locator('[data-step="wait"]'));
    await fillAmount('5');
    await press(page, 'Activate');
    const dialog = page.getByRole('dialog', { name: /^Activate/ });
    await dialog.getByText('Manual, or by the API', { exact: false }).waitFor();
    await pressOn(dialog.getByRole('button', { name: 'Activate flow' }));
    await waitForToast(page, 'Flow activated');
    expect(await amount()).toBe(5);
    expect(await stored(`live/flows/${id}`)).toMatchObject({ status: 'active' });
  });
});

describe('nothing typed is lost', () => {
  /** Ways out of a page, and where they lead. */
  const ways: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a link', () => pressOn(page.getByRole('link', { name: 'Contacts', exact: true }))],
    // Playwright would wait for the page that is not left.
    ['Back', () => page.evaluate('history.back()')],
    [
      'a key',
      async () => {
        // A dialog that has closed gives the focus back a moment later, so each key names its element.
        await page.locator('#content').press('g');
        await page.locator('#content').press('e');
      },
    ],
    [
      'the palette',
      async () => {
        await page.keyboard.press('Control+k');
        await page.locator('[role=combobox]:focus').waitFor();
        await page.keyboard.insertText('domains');
        await page.getByRole('option', { name: 'Domains' }).waitFor();
        await page.keyboard.press('Enter');
      },
    ],
    ['the other environment', () => page.getByLabel('Live', { exact: true }).press('ArrowLeft')],
    [
      'signing out',
      async () => {
        await press(page, /^Account/);
        await pressOn(page.getByRole('menuitem', { name: 'Sign out' }));
      },
    ],
  ];

  test.each([
    ['templates', aTemplate, 'Subject'],
    ['campaigns', aCampaign, 'Subject'],
    ['settings', async () => '', 'Default reply address'],
  ] as const)('%s: every way out asks first, and keeps what is there', async (name, make, label) => {
    const id = await make();
    await page.goto(`${url}/app/live/emails`);
    await heading('Emails');
    // As a link would: Back leads to the page before.
    await page.evaluate(`history.pushState(null, '', '/app/live/${name}${id === '' ? '' : `/${id}`}')`);
    await field(label).fill('typed@acme.test');
    const here = page.url();
    for (const [way, go] of ways) {
      await go();
      const asked = page.getByRole('dialog', { name: 'You have unsaved changes' });
      await asked.waitFor();
      expect([way, page.url()]).toEqual([way, here]);
      // Enter loses nothing.
      await asked.locator('button:focus').getByText('Keep editing').waitFor();
      if (way === 'a link' && name === 'campaigns') await inspect(page, 'editing-leave');
      await answer('Keep editing');
      await withoutDialog(page);
      expect([way, await field(label).inputValue()]).toEqual([way, 'typed@acme.test']);
    }
    await pressOn(page.getByRole('link', { name: 'Contacts', exact: true }));
    await answer('Discard changes');
    await heading(/Contacts|no contact/);
    await page.goBack();
    // A discarded draft is not offered again.
    await field(label).waitFor();
    expect(await field(label).inputValue()).not.toBe('typed@acme.test');
    expect(await page.getByRole('button', { name: 'Restore' }).count()).toBe(0);
  });

  test('a flow: a step that was changed is kept by a guard, across the tabs of its page', async () => {
    const id = await aFlow();
    await page.goto(`${url}/app/live/flows/${id}`);
    await pressOn(page.locator('[data-step="wait"]'));
    await fillAmount('9');
    await pressOn(page.getByRole('link', { name: 'Runs' }));
    await page.getByText('No runs yet', { exact: false }).first().waitFor();
    await pressOn(page.getByRole('link', { name: 'Contacts', exact: true }));
    await answer('Keep editing');
    await withoutDialog(page);
    await pressOn(page.getByRole('link', { name: 'Canvas' }));
    await pressOn(page.locator('[data-step="wait"]'));
    const panel = page.getByRole('region', { name: 'Wait' });
    await panel.locator(':focus').waitFor();
    expect(await panel.getByRole('spinbutton').inputValue()).toBe('9');
    await press(page, 'Discard changes');
  });

  test('a flow: a late frame takes the focus from nowhere', async () => {
    await page.goto(`${url}/app/live/flows/${await aFlow()}`);
    await page.locator('[data-step="wait"]').waitFor();
    await page.evaluate(
      `window.held = []; window.ofBrowser = requestAnimationFrame; window.requestAnimationFrame = (act) => held.push(act)`,
    );
    await page.locator('[data-step="wait"]').press('Enter');
    await page.getByRole('region', { name: 'Wait' }).waitFor();
    await page.getByRole('link', { name: 'Runs' }).focus();
    await page.evaluate(
      `window.requestAnimationFrame = ofBrowser; for (const act of held) act(performance.now())`,
    );
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Runs');
  });

  test('a form in a dialog asks before a key or a click beside it closes it', async () => {
    await page.goto(`${url}/app/live/webhooks`);
    // The empty list offers it once more as soon as it has been read.
    await pressOn(page.locator('header').getByRole('button', { name: /Add endpoint/ }));
    await field('URL').fill('https://example.com/hooks');
    await page.keyboard.press('Escape');
    await answer('Keep editing');
    expect(await field('URL').inputValue()).toBe('https://example.com/hooks');
    await page.keyboard.press('Escape');
    await answer('Discard changes');
    await withoutDialog(page);
  });

  const reload = async () => {
    page.once('dialog', (asked) => {
      expect(asked.type()).toBe('beforeunload');
      void asked.accept();
    });
    await page.reload();
  };
  const isKept = (text: string) =>
    eventually('it is kept', async () => (await keptTexts(page)).includes(text) || undefined);

  test('what was typed survives a reload, is offered with its time, and is gone once it was saved', async () => {
    const id = await aCampaign();
    await page.goto(`${url}/app/live/campaigns/${id}`);
    await field('Subject').focus();
    await page.keyboard.press('End');
    await page.keyboard.insertText(' and more');
    await page.getByRole('textbox', { name: 'HTML source' }).focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('<p>New</p>');
    await isKept('<p>New</p>');
    await reload();
    await page.getByText('You have unsaved changes from', { exact: false }).waitFor();
    expect(await field('Subject').inputValue()).toBe('The old subject');
    await inspect(page, 'editing-restore');
    await press(page, 'Restore');
    expect(await field('Subject').inputValue()).toBe('The old subject and more');
    await page.frameLocator('iframe[title="Message"]').getByText('New').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await stored(`live/campaigns/${id}`)).toMatchObject({
      subject: 'The old subject and more',
      html: '<p>Old</p><p>New</p>',
    });
    await eventually('nothing is kept any more', async () => (await keptTexts(page)) === '[]' || undefined);
    await page.reload();
    await field('Subject').waitFor();
    expect(await page.getByRole('button', { name: 'Restore' }).count()).toBe(0);
  });

  test('a session that ends keeps it, and signing out removes it', async () => {
    const id = await aTemplate();
    const eve = await dashboard.newcomer();
    await eve.goto(`${url}/app/live/templates/${id}`);
    await signIn(eve);
    await field('Subject', eve).fill('Before the session ended');
    await eve.context().clearCookies();
    await eve.keyboard.press('Control+s');
    await eve.getByText('Your session has ended. Sign in again.').waitFor();
    await signIn(eve);
    await press(eve, 'Restore');
    expect(await field('Subject', eve).inputValue()).toBe('Before the session ended');
    await eventually('it is kept', async () => (await keptTexts(eve)).includes('Before the') || undefined);
    await press(eve, /^Account/);
    await pressOn(eve.getByRole('menuitem', { name: 'Sign out' }));
    await pressOn(eve.getByRole('button', { name: 'Discard changes' }));
    await eve.getByText('You are signed out.').waitFor();
    expect(await keptTexts(eve)).toBe('[]');
    await eve.context().close();
  });
});

/** Everything that the browser keeps of what was typed, as JSON. */
const keptTexts = (on: Page): Promise<string> =>
  on.evaluate<string>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('posthorn drafts', 1);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const all = opening.result.transaction('drafts').objectStore('drafts').getAll();
      all.onsuccess = () => resolve(JSON.stringify(all.result));
      all.onerror = () => reject(all.error);
    };
  })`);

describe('two who edit one thing', () => {
  test('save what each has changed, and see what the other has', async () => {
    const id = await aCampaign();
    // Two tabs of one person are the same case as two members.
    const other = await page.context().newPage();
    for (const each of [page, other]) {
      await each.goto(`${url}/app/live/campaigns/${id}`);
      await field('Subject', each).waitFor();
    }
    await field('Subject').fill('Mine');
    await field('Name', other).fill('Theirs');
    await other.keyboard.press('Control+s');
    await other.getByText('Saved', { exact: true }).waitFor();
    await page.getByText('Someone else changed Name.', { exact: false }).waitFor();
    expect(await field('Name').inputValue()).toBe('Theirs');
    expect(await field('Subject').inputValue()).toBe('Mine');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await stored(`live/campaigns/${id}`)).toMatchObject({ name: 'Theirs', subject: 'Mine' });
    await eventually('the other one sees it', async () =>
      (await field('Subject', other).inputValue()) === 'Mine' ? true : undefined,
    );

    // Both change the same member: neither text is lost, and one of them is chosen.
    await field('Subject').fill('Mine again');
    await field('Subject', other).fill('Theirs this time');
    await other.keyboard.press('Control+s');
    await page.getByText('Someone else changed Subject while you were editing.', { exact: false }).waitFor();
    expect(await field('Subject').inputValue()).toBe('Mine again');
    await page.keyboard.press('Control+s');
    const dialog = page.getByRole('dialog', { name: 'Someone else changed this too' });
    await dialog.getByText('Mine again').waitFor();
    await dialog.getByText('Theirs this time').waitFor();
    await inspect(page, 'editing-conflict');
    await pressOn(dialog.getByRole('radio', { name: 'Their version' }), 'Space');
    await pressOn(dialog.getByRole('button', { name: 'Save' }));
    await withoutDialog(page);
    expect(await field('Subject').inputValue()).toBe('Theirs this time');
    expect(await stored(`live/campaigns/${id}`)).toMatchObject({ subject: 'Theirs this time' });
    await other.close();
  });
});

test('no page has complained', () => expect(dashboard.complaints).toEqual([]));
