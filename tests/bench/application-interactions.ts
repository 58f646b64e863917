import type { Page } from 'playwright-core';

const open =
  (link: string, heading: string | RegExp = link) =>
  async (page: Page) => {
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    await navigation.getByRole('link', { name: link, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };
const keys =
  (...pressed: readonly string[]) =>
  async (page: Page) => {
    for (const key of pressed) {
      await page.keyboard.press(key);
      await page.evaluate('new Promise(requestAnimationFrame)');
    }
  };
const row = (page: Page) => page.locator('[data-row="0"]').waitFor();

/** What people do all day, by what it is called in the table. */
export const INTERACTIONS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'opening the palette': async (page) => {
    await page.keyboard.press('Control+k');
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
  'filtering by recipient': async (page) => {
    await page.getByLabel('Recipient', { exact: true }).click();
    await keys('d', 'e', 'l', 'Enter')(page);
  },
  'clearing the filters': async (page) => {
    await page.getByRole('button', { name: 'Clear' }).click();
    await row(page);
  },
  'opening an email': async (page) => {
    await page.locator('[data-row="1"]').click();
    await page.getByRole('region', { name: 'What happened' }).waitFor();
  },
  'looking at its text': async (page) => {
    await page.locator('label', { hasText: /^Text$/ }).click();
  },
  'going to the contacts': open('Contacts'),
  'opening a dialog': async (page) => {
    await row(page);
    await page.getByRole('button', { name: 'Add a contact' }).click();
    await page.getByRole('dialog').getByLabel('Email address').waitFor();
  },
  'typing into a field': keys('a', 'd', 'a'),
  'closing the dialog': keys('Escape'),
  'opening a menu': async (page) => {
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem').first().waitFor();
  },
  'closing the menu': keys('Escape'),
  'going to the audiences': open('Audiences'),
  'building a filter': async (page) => {
    await page.getByRole('link', { name: 'New audience' }).first().click();
    await page.getByLabel('Condition 1: field').waitFor();
    await page.getByRole('button', { name: 'Condition' }).click();
    await page.getByLabel('Condition 2: field').waitFor();
  },
  'going to the templates': open('Templates'),
  'going to the flows': open('Flows'),
  'going to the machines': async (page) => {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Machines' }).click();
    await page.locator('[data-state]').first().waitFor();
  },
  'going back to the overview': open('Overview', /^Welcome/),
  'showing the shortcuts': keys('?'),
  'closing the shortcuts': keys('Escape'),
  'switching to test': async (page) => {
    await page.locator('label', { hasText: /^Test$/ }).click();
    await page.getByText('Test environment: nothing leaves this service.').waitFor();
  },
};
