import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Route } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { asMember, press, pressOn, waitForToast, withoutDialog } from './dashboard.ts';
import { inspect, pictureOf, sidewaysOf } from './looks.ts';
import {
  add,
  block,
  dashboard,
  EMPTY,
  message,
  newTemplate,
  openVisual,
  PNG,
  page,
  SOURCE,
  save,
  stored,
  TEXT_ROW,
  type TemplateSource,
  url,
} from './visual-page.ts';

beforeAll(openVisual);
afterAll(() => dashboard?.[Symbol.asyncDispose]());

test('only tags that are typed become chips', async () => {
  const made = await newTemplate(SOURCE.join('\n').replace('Hello {{ name }}', 'Write &#123;{ name }}:'));
  await block(/^Text/).click();
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.press('Control+End');
  await text.pressSequentially(' x');
  await save();
  expect(await stored(made)).toContain('>Write &#123;{ name }}: x</mj-text>');
  await text.pressSequentially('{{ plan }}');
  await page.locator('.visual-chip', { hasText: 'plan' }).waitFor();
  await page.keyboard.press('Control+s');
  await eventually('the chip', async () =>
    (await stored(made)).includes('>Write &#123;{ name }}: x{{ plan }}</mj-text>') ? true : undefined,
  );
});

test('where the visual editor fails, the page stays and leads to Code', async () => {
  await newTemplate(SOURCE.join('\n'));
  // Its text editor cannot be made without one.
  await page.evaluate(`globalThis.own = MutationObserver;
    MutationObserver = class { constructor() { throw new Error('no observer here'); } }`);
  await block(/^Text/).click();
  await page.getByText('The visual editor failed. What you wrote is still there: go on in Code.').waitFor();
  await page.evaluate('MutationObserver = own');
  await press(page, 'Edit in Code');
  await page.getByRole('textbox', { name: 'MJML source' }).waitFor();
  expect(dashboard.complaints.splice(0).filter((each) => !each.includes('no observer here'))).toEqual([]);
});

test('an image is uploaded into the message, and keeps its words', async () => {
  const made = await newTemplate(EMPTY);
  await add('Image');
  await page.getByLabel('Upload an image').setInputFiles({
    name: 'office.png',
    mimeType: 'image/png',
    buffer: PNG,
  });
  await page.getByLabel('Alternative text').fill('Our "office"');
  await page.getByRole('button', { name: 'Insert', exact: true }).click();
  await block('Image: Our "office"').waitFor();
  await save();
  expect(await stored(made)).toMatch(
    /<mj-image src="http\S+\/images\/[0-9a-f]{64}\.png" alt="Our &quot;office&quot;" width="1px"/,
  );
});

test('an image is pasted into the message', async () => {
  const made = await newTemplate(SOURCE.join('\n'));
  await block(/^Text/).focus();
  await page.evaluate(
    `const bytes = Uint8Array.from(atob('${PNG.toString('base64')}'), (letter) => letter.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
    document.activeElement.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );`,
  );
  await block(/^Image/).waitFor();
  await save();
  expect(await stored(made)).toMatch(/<mj-image src="http\S+\/images\/[0-9a-f]{64}\.png" alt="" width="1px"/);
});

test('a block is saved as a partial, and inserted into another message', async () => {
  await newTemplate(SOURCE.join('\n'));
  await block(/^Button/).click();
  await press(page, 'Save block');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Our button');
  await pressOn(dialog.getByRole('button', { name: 'Save block' }));
  await waitForToast(page, 'Block “Our button” saved as a partial');
  await withoutDialog(page);
  const made = await newTemplate(EMPTY);
  await add('Saved block…');
  await dialog.getByRole('button', { name: 'Our button' }).waitFor();
  await inspect(page, 'visual-saved-blocks');
  await pressOn(dialog.getByRole('button', { name: 'Our button' }));
  await withoutDialog(page);
  await block(/^Button: Read more/).click();
  // The colours of the workspace and of the message are offered.
  await pressOn(page.getByRole('button', { name: 'Background: #7c3aed' }));
  await page.getByLabel('Font', { exact: true }).selectOption('Georgia');
  await inspect(page, 'visual-brand');
  await page.setViewportSize({ width: 320, height: 700 });
  await eventually('a page within its width', async () => (await sidewaysOf(page)) === 0 || undefined);
  await pictureOf(page, 'application/visual-brand-320');
  await page.setViewportSize({ width: 1280, height: 800 });
  await save();
  const source = await stored(made);
  expect(source).toContain('href="{{ url }}" background-color="#7c3aed" font-family="Georgia, Times, serif"');
});

test('of saved blocks the last choice alone is inserted, and none once the dialog is closed', async () => {
  for (const name of ['First', 'Second'])
    await asMember(page, 'POST', 'test/templates', {
      name: `${name} block`,
      kind: 'partial',
      format: 'mjml',
      mjml: `<mj-button href="https://x.example" font-family="'Trebuchet MS', Helvetica, sans-serif">${name}</mj-button>`,
    });
  const made = await newTemplate(EMPTY);
  const held: Route[] = [];
  const others = new RegExp(`/app/api/test/templates/(?!${made.id})tpl_\\w+$`);
  const dialog = page.getByRole('dialog');
  /** Chooses a block, whose answer is held. */
  const pick = async (name: string) => {
    const before = held.length;
    await pressOn(dialog.getByRole('button', { name: `${name} block` }));
    await eventually('a request', async () => held.length > before || undefined);
  };
  const answer = async (route: Route | undefined) => {
    const arrived = page.waitForResponse(others);
    await route?.continue();
    await (await arrived).finished();
  };
  await page.route(others, (route) => void held.push(route));
  await add('Saved block…');
  await pick('First');
  await pick('Second');
  await answer(held[0]);
  await answer(held[1]);
  await withoutDialog(page);
  await block(/^Button: Second/).click();
  // Messages of earlier versions have the fonts with quotes.
  const font = page.getByLabel('Font', { exact: true }).locator('option:checked');
  expect(await font.textContent()).toBe('Trebuchet');
  await add('Saved block…');
  await pick('First');
  await page.keyboard.press('Escape');
  await withoutDialog(page);
  await answer(held[2]);
  await page.unroute(others);
  await save();
  expect((await stored(made)).match(/<mj-button[^<]*/g)).toEqual([expect.stringContaining('>Second')]);
});

test('saved blocks that cannot be saved, listed or read say so, and can be tried again', async () => {
  const refused = (message: string) => ({ status: 403, json: { error: { message } } });
  const made = await newTemplate(SOURCE.join('\n'));
  await block(/^Button/).click();
  await press(page, 'Save block');
  const dialog = page.getByRole('dialog');
  const create = /\/app\/api\/test\/templates$/;
  await page.route(create, (route) => route.fulfill(refused('There is no room for another one.')));
  await dialog.getByLabel('Name').fill('Kept button');
  await pressOn(dialog.getByRole('button', { name: 'Save block' }));
  await dialog.getByText('There is no room for another one.').waitFor();
  await page.unroute(create);
  await pressOn(dialog.getByRole('button', { name: 'Save block' }));
  await waitForToast(page, 'Block “Kept button” saved as a partial');
  await withoutDialog(page);
  const list = /\/app\/api\/test\/templates\?.*kind=partial/;
  await page.route(list, (route) => route.fulfill(refused('The list cannot be read.')));
  await page.goto(`${url}/app/test/templates/${made.id}`);
  await block(/^Button/).waitFor();
  await add('Saved block…');
  await dialog.getByText('The list cannot be read.').waitFor();
  await page.unroute(list);
  await pressOn(dialog.getByRole('button', { name: 'Try again' }));
  const kept = dialog.getByRole('button', { name: 'Kept button' });
  await kept.waitFor();
  const one = /\/app\/api\/test\/templates\/tpl_\w+$/;
  await page.route(one, (route) => route.fulfill(refused('It was deleted just now.')));
  await pressOn(kept);
  await dialog.getByText('It was deleted just now.').waitFor();
  await page.unroute(one);
  await pressOn(kept);
  await withoutDialog(page);
  await block(/^Button/)
    .nth(1)
    .waitFor();
});

test('the preview draws again only what was edited', async () => {
  await newTemplate(SOURCE.join('\n').replace('  </mj-body>', `${TEXT_ROW}\n  </mj-body>`));
  await message().getByText('Two', { exact: true }).waitFor();
  const inFrame = (script: string) =>
    page.evaluate(
      `((shown) => ${script})([...document.querySelector('iframe[title=Message]').contentDocument.querySelectorAll('div')].filter((each) => each.textContent === 'Two').at(-1))`,
    );
  await inFrame('{ shown.isKept = true; }');
  await block(/^Text: Hello/).click();
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.press('End');
  await text.pressSequentially(' again');
  await message().getByText('again').waitFor();
  expect(await inFrame('shown.isKept')).toBe(true);
  // A row less changes what is around the rows.
  await block(/^Text: Two/).press('Delete');
  await message().getByText('Two', { exact: true }).waitFor({ state: 'detached' });
});

test('HTML and Markdown say why they are edited as source', async () => {
  const { data } = await asMember<TemplateSource>(page, 'POST', 'test/templates', {
    name: 'Letter',
    subject: 'Hello',
    format: 'emailmd',
    markdown: 'Hello',
  });
  await page.goto(`${url}/app/test/templates/${data.id}`);
  await pressOn(page.getByRole('radio', { name: 'Visual', exact: true }), 'Space');
  await page.getByText('Markdown is edited as source.').waitFor();
  await inspect(page, 'visual-markdown');
  await press(page, 'Edit source');
  await page.getByRole('textbox', { name: 'Markdown source' }).waitFor();
});

test('the unsaved preview of a campaign has its variables', async () => {
  const { data: audience } = await asMember<TemplateSource>(page, 'POST', 'test/audiences', {
    name: 'Of variables',
  });
  const { data: campaign } = await asMember<TemplateSource>(page, 'POST', 'test/campaigns', {
    name: 'Sale',
    audienceId: audience.id,
    subject: 'Sale',
    mjml: SOURCE.join('\n').replace('{{ name }}', '{{ month }}'),
    variables: { month: 'July' },
  });
  await page.goto(`${url}/app/test/campaigns/${campaign.id}`);
  await page.getByLabel('Template variables').fill('{ "month": "August", "url": "https://x.example" }');
  await message().getByText('Hello August').waitFor();
});
