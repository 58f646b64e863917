import type { Locator, Page } from 'playwright-core';

/**
 * Until the frame that answers has been painted. Looking for something in the page before that is work that
 * the answer waits for.
 */
const painted = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');

/**
 * Presses where something is, as a hand does. Playwright's own click listens in the page while it presses: 13
 * ms of a slowed one.
 */
async function press(what: Locator): Promise<void> {
  await what.waitFor();
  const box = await what.boundingBox();
  if (!box) throw new Error(`${what} is not in sight.`);
  const page = what.page();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await painted(page);
  await page.mouse.down();
  await page.mouse.up();
  await painted(page);
}

const open =
  (link: string, heading: string | RegExp = link) =>
  async (page: Page) => {
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    await press(navigation.getByRole('link', { name: link, exact: true }));
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };
const keys =
  (...pressed: readonly string[]) =>
  async (page: Page) => {
    for (const key of pressed) {
      await page.keyboard.press(key);
      await painted(page);
    }
  };
const row = (page: Page) => page.locator('[data-row="0"]').waitFor();

/** Everyday interactions, by their names in the table. */
export const INTERACTIONS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'opening the palette': async (page) => {
    await keys('Control+k')(page);
    await page.getByRole('combobox').waitFor();
  },
  'typing into the palette': keys('o', 'r', 'd', 'e', 'r'),
  'going through what was found': keys('ArrowDown', 'ArrowDown', 'ArrowUp'),
  'closing the palette': keys('Escape'),
  'going to the emails': open('Emails'),
  'going through the rows': async (page) => {
    await row(page);
    await keys('j', 'j', 'j', 'k')(page);
  },
  'choosing a status': async (page) => {
    await page.getByLabel('Status').focus();
    await keys('d')(page);
    await row(page);
  },
  'searching emails': async (page) => {
    await press(page.getByLabel('Recipient or subject', { exact: true }));
    await keys('d', 'e', 'l', 'Enter')(page);
  },
  'clearing the filters': async (page) => {
    await press(page.getByRole('button', { name: 'Clear' }));
    await row(page);
  },
  'opening an email': async (page) => {
    await press(page.locator('[data-row="1"]'));
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
  },
  'looking at its text': async (page) => {
    await press(page.locator('label', { hasText: /^Text$/ }));
  },
  'going to the contacts': open('Contacts'),
  'opening a dialog': async (page) => {
    await row(page);
    await press(page.getByRole('button', { name: 'Add contact' }));
    await page.getByRole('dialog').getByLabel('Email address').waitFor();
  },
  'typing into a field': keys('a', 'd', 'a'),
  'closing the dialog': async (page) => {
    await keys('Escape')(page);
    await press(page.getByRole('button', { name: 'Discard changes' }));
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  },
  'opening a menu': async (page) => {
    await press(page.getByRole('button', { name: 'More actions', exact: true }));
    await page.getByRole('menuitem').first().waitFor();
  },
  'closing the menu': keys('Escape'),
  'going to the audiences': open('Audiences'),
  'building a filter': async (page) => {
    await press(page.getByRole('link', { name: 'New audience' }).first());
    await page.getByLabel('Condition 1: field').waitFor();
    await press(page.getByRole('button', { name: 'Add condition' }));
    await page.getByLabel('Condition 2: field').waitFor();
  },
  'going to the templates': open('Templates'),
  'going to the flows': open('Flows'),
  'going to the machines': async (page) => {
    await press(
      page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'State machines' }),
    );
    await page.locator('[data-state]').first().waitFor();
  },
  'going back to the overview': open('Overview', /^Welcome/),
  'showing the shortcuts': keys('?'),
  'closing the shortcuts': keys('Escape'),
  'switching to test': async (page) => {
    await press(page.locator('label', { hasText: /^Test$/ }));
    await page.getByText('Test environment: no email leaves this service.').waitFor();
  },
};
