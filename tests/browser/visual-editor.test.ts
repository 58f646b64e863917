import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { asMember, press, pressOn, waitForToast, withoutDialog } from './dashboard.ts';
import { inspect, violations } from './looks.ts';
import {
  add,
  block,
  dashboard,
  EMPTY,
  message,
  newTemplate,
  openVisual,
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

const focused = (name: RegExp) => page.locator('[role=group]:focus').and(block(name)).waitFor();
/** The focused block tells its place among all: a screen reader reads it with the name. */
const describedAs = async (name: RegExp, place: string) => {
  const chosen = page.locator('[role=group][aria-current]:focus').and(block(name));
  await eventually(place, async () => {
    const id = await chosen.getAttribute('aria-describedby');
    return (await page.locator(`[id="${id}"]`).textContent()) === place || undefined;
  });
};

interface ShownHtml {
  readonly html: string;
}

test('a text is written in its place; all other octets stay, and undo brings it back', async () => {
  const made = await newTemplate(SOURCE.join('\n'));
  await page.getByText('The visual editor cannot show this part. It stays as it is.').waitFor();
  await block(/^Text/).click();
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.press('Control+End');
  // Letters within a second are undone together: for as long as that takes, no time passes on the page.
  await page.evaluate('(() => { const at = performance.now(); performance.now = () => at; })()');
  await text.pressSequentially(' and ');
  await text.press('Control+b');
  await text.pressSequentially('<you>');
  await message().getByText('<you>').waitFor();
  await page.evaluate('delete performance.now');
  await inspect(page, 'visual-editor');
  await save();
  const written = SOURCE.with(
    5,
    '        <mj-text   font-size="20px">Hello {{ name }} and <strong>&lt;you&gt;</strong></mj-text>',
  );
  expect(await stored(made)).toBe(written.join('\n'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await message().getByText('<you>').waitFor({ state: 'detached' });
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  // The toast of the first save may still be there.
  await eventually('the first source', async () => (await stored(made)) === SOURCE.join('\n') || undefined);
});

/** The octets of the html that a test email leaves with are those of the preview. */
async function sendsAsShown({ id }: TemplateSource): Promise<void> {
  await press(page, 'Send test');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Send test' }));
  await waitForToast(page, 'Test email sent');
  await withoutDialog(page);
  const source = (await asMember<TemplateSource>(page, 'GET', `live/templates/${id}`)).data.mjml;
  const { data } = await asMember<ShownHtml>(page, 'POST', 'live/templates/render-preview', {
    format: 'mjml',
    subject: 'News',
    mjml: source,
  });
  const found = await eventually('the test email', async () => {
    const [one] = (await asMember<readonly { readonly id: string }[]>(page, 'GET', 'live/captured')).data;
    return one && (await asMember<ShownHtml>(page, 'GET', `live/captured/${one.id}`)).data;
  });
  // The link is filled in for each recipient when the email leaves.
  const left = found.html.replaceAll('\r\n', '\n').replace(/http[^"]+\/t\/u\/[^"]+/, '{{unsubscribeUrl}}');
  expect(left.trimEnd()).toBe(data.html.trimEnd());
}

test('a newsletter is built with the mouse, and leaves as it is shown', async () => {
  const made = await newTemplate(EMPTY, { from: 'Acme <news@acme.test>' }, 'live');
  await page.getByText('This message is empty. Add a block to begin.').waitFor();
  await add('Heading');
  await add('Text');
  await block(/^Text/).click();
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.press('Control+A');
  await text.pressSequentially('Hello ');
  await page.getByRole('button', { name: 'Insert variable' }).last().click();
  await page.getByRole('menuitem', { name: /^First name/ }).waitFor();
  expect(await violations(page, undefined, "document.querySelector('[role=menu]')")).toEqual([]);
  await page.getByRole('menuitem', { name: /^First name/ }).click();
  await block(/^Text: Hello First name/).waitFor();
  await add('Button');
  await page.getByLabel('Label', { exact: true }).fill('Read');
  await page.getByLabel('Address', { exact: true }).fill('https://example.com/?a=1&b=2');
  await add('Divider');
  await add('Two columns');
  await add('Unsubscribe footer');
  await block(/^Divider/).click();
  await block(/^Divider/)
    .locator('[data-grip]')
    .dragTo(block(/^Button/), { targetPosition: { x: 60, y: 4 } });
  await describedAs(/^Divider/, '4 of 12');
  await block(/^Button/).click();
  await inspect(page, 'visual-newsletter');
  await save();
  const source = await stored(made);
  expect(source).toContain('>Hello {{ contact.firstName }}</mj-text>');
  expect(source.indexOf('<mj-divider')).toBeLessThan(
    source.indexOf('<mj-button href="https://example.com/?a=1&amp;b=2"'),
  );
  await page.reload();
  await block(/^Footer/).waitFor();
  expect(await stored(made)).toBe(source);
  await sendsAsShown(made);
});

/** Adds a block as a person without a mouse. */
const addByKeys = async (name: string) => {
  await press(page, 'Add block');
  await page.getByRole('menuitem', { name, exact: true }).waitFor();
  await pressOn(page.getByRole('menuitem', { name, exact: true }));
  await page.getByRole('menu').waitFor({ state: 'detached' });
};

test('a newsletter is built with the keyboard alone', async () => {
  const made = await newTemplate(EMPTY);
  await addByKeys('Heading');
  await focused(/^Heading/);
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Heading', exact: true }).waitFor();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('News');
  await page.keyboard.press('Escape');
  await focused(/^Heading: News/);
  await addByKeys('Button');
  await focused(/^Button/);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('Open');
  await page.keyboard.press('Escape');
  await focused(/^Button: Open/);
  await page.keyboard.press('Alt+ArrowUp');
  await describedAs(/^Button: Open/, '2 of 3');
  await page.keyboard.press('Control+d');
  await describedAs(/^Button: Open/, '3 of 4');
  await page.keyboard.press('Delete');
  await describedAs(/^Heading: News/, '3 of 3');
  await page.keyboard.press('ArrowUp');
  await describedAs(/^Button: Open/, '2 of 3');
  await page.keyboard.press('Control+z');
  await describedAs(/^Button: Open/, '3 of 4');
  await page.keyboard.press('Control+Shift+z');
  await describedAs(/^Button: Open/, '2 of 3');
  await page.keyboard.press('Control+s');
  await waitForToast(page, 'Saved and published');
  const source = await stored(made);
  expect(source.match(/<mj-button/g)).toHaveLength(1);
  expect(source.indexOf('>Open</mj-button>')).toBeLessThan(source.indexOf('>News</h2></mj-text>'));
});

test('the keys act on the focused block after undo and redo, which choose another', async () => {
  const made = await newTemplate(EMPTY);
  await add('Text');
  await focused(/^Text/);
  await add('Button');
  await focused(/^Button/);
  await page.keyboard.press('Delete');
  await focused(/^Text/);
  await page.keyboard.press('Control+z');
  await focused(/^Button/);
  await page.keyboard.press('Control+Shift+z');
  await focused(/^Text/);
  await page.keyboard.press('Control+z');
  await focused(/^Button/);
  await page.keyboard.press('Delete');
  await block(/^Button/).waitFor({ state: 'detached' });
  await page.keyboard.press('Control+s');
  await waitForToast(page, 'Saved and published');
  const source = await stored(made);
  expect(source).toContain('<mj-text');
  expect(source).not.toContain('<mj-button');
});

test('a list is made of paragraphs by its button, and a paragraph of a list', async () => {
  const made = await newTemplate(EMPTY);
  await add('Text');
  await block(/^Text/).click();
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.press('Control+A');
  await text.pressSequentially('One');
  await press(page, 'Bulleted list');
  await text.press('Enter');
  await text.pressSequentially('Two');
  await press(page, 'Numbered list');
  await save();
  expect(await stored(made)).toContain('<ol>\n<li>One</li>\n<li>Two</li>\n</ol></mj-text>');
  await text.press('Control+A');
  await press(page, 'Numbered list');
  await page.keyboard.press('Control+s');
  const source = await eventually('the text without a list', async () => {
    const now = await stored(made);
    return now.includes('<ol>') ? undefined : now;
  });
  expect(source).toMatch(/>One<.*\n.*>Two</);
});

test('cut and paste keeps links, chips and styles', async () => {
  const made = await newTemplate(EMPTY);
  await add('Unsubscribe footer');
  await add('Heading');
  await save();
  const before = await stored(made);
  for (const [name, label] of [
    [/^Footer/, 'Footer'],
    [/^Heading/, 'Heading'],
  ] as const) {
    await block(name).click();
    const text = page.getByRole('textbox', { name: label, exact: true });
    await text.press('Control+A');
    await text.press('Control+x');
    await message()
      .getByText(label === 'Footer' ? 'Unsubscribe' : 'A heading')
      .waitFor({ state: 'detached' });
    await text.press('Control+v');
    await message()
      .getByText(label === 'Footer' ? 'Unsubscribe' : 'A heading')
      .waitFor();
    await page.keyboard.press('Escape');
  }
  await page.keyboard.press('Control+s');
  expect(before).toContain('<a href="{{ unsubscribeUrl }}" style="color: #62626b">Unsubscribe</a>');
  await eventually('the same source', async () => (await stored(made)) === before || undefined);
});

test('an address is typed again, and HTML that is not whole yet is kept', async () => {
  const made = await newTemplate(EMPTY);
  await add('HTML');
  await add('Text');
  await block(/^Text/).click();
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.press('Control+A');
  await text.pressSequentially('One');
  const address = page.getByLabel('Link of the selected text');
  await address.and(page.locator(':disabled')).waitFor();
  await text.press('Control+A');
  await address.pressSequentially('https://a.example');
  await address.press('Control+A');
  await address.press('Delete');
  await address.pressSequentially('https://b.example');
  await save();
  expect(await stored(made)).toContain('<a href="https://b.example">One</a>');
  await block(/^HTML/).click();
  const html = page.getByRole('textbox', { name: /^HTML/ });
  await html.fill('<td style="color:red');
  await page.getByText('Not saved: this HTML would end its block').waitFor();
  await block(/^Text/).click();
  await block(/^HTML/).click();
  expect(await html.inputValue()).toBe('<td style="color:red');
  const shows = (pane: string) => pressOn(page.getByRole('radio', { name: pane, exact: true }), 'Space');
  await shows('Variables');
  await shows('Visual');
  await block(/^HTML/).click();
  expect(await html.inputValue()).toBe('<td style="color:red');
  // It asks before it is left from any pane.
  await shows('Settings');
  await pressOn(page.getByRole('link', { name: 'Contacts', exact: true }));
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }));
  await withoutDialog(page);
  // Its block is removed in Code: the HTML is offered as another one.
  await shows('Code');
  const code = page.getByRole('textbox', { name: 'MJML source' });
  await code.press('Control+A');
  await code.press('Delete');
  await page.keyboard.insertText(EMPTY.replace('</mj-body>', `${TEXT_ROW}</mj-body>`));
  await shows('Visual');
  await page.getByText('The block of this unfinished HTML was changed or removed elsewhere.').waitFor();
  await inspect(page, 'visual-unfinished');
  await press(page, 'Add it as a block');
  await block(/^HTML/).click();
  expect(await html.inputValue()).toBe('<td style="color:red');
  await html.fill('{% if vip %}');
  await html.pressSequentially('<td>x</td>{% endif %}');
  await page.keyboard.press('Control+s');
  const raw = '<mj-raw>{% if vip %}<td>x</td>{% endif %}</mj-raw>';
  await eventually('the HTML', async () => (await stored(made)).includes(raw) || undefined);
});

test('a source that cannot be shown says so, and Code is there', async () => {
  await newTemplate('<mj-text>no row</mj-text>', { kind: 'partial', subject: undefined }, 'test', false);
  await page.getByText('The visual editor cannot show this source.').waitFor();
  await press(page, 'Edit in Code');
  await page.getByRole('textbox', { name: 'MJML source' }).waitFor();
});

test('a campaign is edited as blocks, and saved as MJML', async () => {
  const { data: audience } = await asMember<TemplateSource>(page, 'POST', 'test/audiences', {
    name: 'Readers',
  });
  const { data: campaign } = await asMember<TemplateSource>(page, 'POST', 'test/campaigns', {
    name: 'News',
    audienceId: audience.id,
    subject: 'News',
    markdown: 'Words',
  });
  await page.goto(`${url}/app/test/campaigns/${campaign.id}`);
  const source = page.getByRole('textbox', { name: 'Markdown source' });
  await source.focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' of mine');
  const type = page.getByLabel('Content type');
  await type.selectOption('mjml');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Keep Markdown' }));
  await withoutDialog(page);
  expect(await type.inputValue()).toBe('markdown');
  await type.selectOption('mjml');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Begin new message' }));
  await block(/^Heading: The first story/).waitFor();
  // The draft has the letter as well.
  await page
    .getByTitle(/^Until you save, your changes are kept on the server/)
    .first()
    .waitFor();
  await page.reload();
  await press(page, 'Restore');
  await block(/^Heading: The first story/).waitFor();
  await type.selectOption('markdown');
  await page.getByText('Words of mine').first().waitFor();
  await type.selectOption('mjml');
  await block(/^Heading: The first story/).click();
  await page.getByRole('textbox', { name: 'Heading', exact: true }).press('Control+A');
  await page.keyboard.type('Our story');
  await message().getByText('Our story').waitFor();
  await inspect(page, 'visual-campaign');
  await page.keyboard.press('Control+s');
  await waitForToast(page, 'Saved');
  const { data } = await asMember<TemplateSource>(page, 'GET', `test/campaigns/${campaign.id}`);
  expect(data.mjml).toContain('>Our story</h2>');
  expect(data).toMatchObject({ markdown: null, html: null });
});

test('a new template starts from one of twelve messages', async () => {
  await page.goto(`${url}/app/test/templates`);
  await pressOn(page.getByRole('button', { name: 'New template' }).first());
  await page.getByLabel('Name', { exact: true }).fill('Our receipt');
  await page.getByRole('radio', { name: /^Receipt/ }).check();
  await inspect(page, 'visual-starters');
  await pressOn(page.getByRole('button', { name: 'Create template' }));
  await block(/^List: item in items/).waitFor();
  await block(/^Text: item\.title/).click();
  await inspect(page, 'visual-receipt');
  // The preview shows an image by PUBLIC_URL, which is another origin here.
  expect(dashboard.complaints.filter((each) => !each.includes('/images/'))).toEqual([]);
});

test('a variable is put where the cursor is: in the subject, and in the source', async () => {
  const { data } = await asMember<TemplateSource>(page, 'POST', 'test/templates', {
    name: 'Plain',
    subject: 'Hello !',
    html: '<p>Hi</p>',
    variables: [{ key: 'plan' }],
  });
  await page.goto(`${url}/app/test/templates/${data.id}`);
  const subject = page.getByLabel('Subject', { exact: true });
  await subject.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('button', { name: 'Insert variable: Subject' }).click();
  await page.getByRole('menuitem', { name: /^First name/ }).click();
  await eventually('the subject', async () =>
    (await subject.inputValue()) === 'Hello {{ contact.firstName }}!' ? true : undefined,
  );
  await page.getByRole('textbox', { name: 'HTML source' }).focus();
  await page.keyboard.press('Control+End');
  await page.getByRole('button', { name: 'Insert variable', exact: true }).click();
  await page.getByRole('menuitem', { name: /^plan/ }).click();
  await save();
  const told = await asMember<{ readonly html: string }>(page, 'GET', `test/templates/${data.id}`);
  expect(told.data).toMatchObject({ html: '<p>Hi</p>{{ plan }}', subject: 'Hello {{ contact.firstName }}!' });
});
