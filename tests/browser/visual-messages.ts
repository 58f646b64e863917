import type { Page } from 'playwright-core';
import PostalMime from 'postal-mime';
import { randomFrom } from '../../src/ops/torture/random.ts';
import { readDesign } from '../../src/web/dashboard/web/application/pages/visual/source/blocks.ts';
import { choicesOf } from '../../src/web/dashboard/web/application/pages/visual/source/edit.ts';
import { writeTree } from '../../src/web/dashboard/web/application/pages/visual/source/tree.ts';
import { startSink } from '../integration/transport/smtp-sink.ts';
import { eventually } from '../support/eventually.ts';
import { generatedSource } from '../unit/dashboard/visual/generated-message.ts';
import { ADA, asMember, openDashboard, ownerPage, pressOn, waitForToast } from './dashboard.ts';

// Messages that generated acts make with the visual editor: what its preview shows is what leaves, and its
// source is read as the same blocks.

const EMPTY = '<mjml lang="en">\n  <mj-body background-color="#f4f4f5">\n  </mj-body>\n</mjml>';
const ACTS = 14;

/** One message, and what was wrong with it. */
export interface MadeMessage {
  readonly seed: number;
  readonly isOfBrowser: boolean;
  readonly blocks: number;
  readonly octets: number;
  readonly problems: readonly string[];
}

const ADDED = [
  'Text',
  'Heading',
  'List',
  'Quote',
  'Button',
  'Divider',
  'Space',
  'Social links',
  'Unsubscribe footer',
  'Two columns',
  'Three columns',
];
const WORDS = [
  'Hello {{ contact.firstName }}, ',
  'a < b & "c" ',
  '100 % of it',
  'Ünïcode 👋 ',
  'x{y}z $1 ',
  '{{ month | upcase }} ',
];

/** Does one thing after the other in the opened editor. */
async function act(page: Page, random: () => number): Promise<void> {
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const canvas = page.getByRole('region', { name: 'Canvas' });
  const add = async () => {
    const before = await canvas.getByRole('group').count();
    await page.getByRole('button', { name: 'Add block' }).click();
    await page.getByRole('menuitem', { name: pick(ADDED) ?? '', exact: true }).click();
    await eventually(
      'the block',
      async () => (await canvas.getByRole('group').count()) > before || undefined,
    );
  };
  /** Chooses a block by its keys, as the mouse would begin to write in a text. */
  const choose = async (name: RegExp) => {
    const found = canvas.getByRole('group', { name });
    const many = await found.count();
    if (many === 0) return null;
    const chosen = found.nth(Math.floor(random() * many));
    await chosen.focus();
    return chosen;
  };
  const write = async () => {
    const block = await choose(/^(?:Text|Heading|Quote|Footer)/);
    if (!block) return;
    const text = page.locator('.visual-input');
    // The block loses the focus where an act before it ends late: a person looks, and presses again.
    await eventually('the text can be written', async () => {
      if ((await text.count()) > 0) return true;
      if ((await block.and(page.locator(':focus')).count()) > 0) await page.keyboard.press('Enter');
      else await block.focus();
      return undefined;
    });
    await text.press(random() < 0.5 ? 'Control+End' : 'Control+Home');
    for (let n = 0; n < 3; n++) await page.keyboard.insertText(pick(WORDS) ?? '');
    if (random() < 0.3) await page.keyboard.press('Enter');
    if (random() < 0.4) {
      await page.keyboard.press('Control+b');
      await page.keyboard.insertText('bold');
    }
    await page.keyboard.press('Escape');
  };
  const press = async (...keys: readonly string[]) => {
    if (await choose(/./)) for (const key of keys) await page.keyboard.press(key);
  };
  const colour = async () => {
    if (!(await choose(/^(?:Button|Section|Text)/))) return;
    const fields = page.getByRole('textbox', { name: /^(?:Background|Colour)$/ });
    if ((await fields.count()) > 0) await fields.first().fill(pick(['#123456', '#7c3aed', '']) ?? '');
  };
  const ways = [
    add,
    add,
    add,
    write,
    write,
    colour,
    () => press('Alt+ArrowUp'),
    () => press('Alt+ArrowDown'),
    () => press('Control+d'),
    () => press('Delete'),
    () => press('Control+z'),
  ];
  await pick(ways)?.();
}

/** Makes so many messages, of these so many in Chromium, and sends each. */
export async function makeMessages(
  { count, inBrowser, seed }: { readonly count: number; readonly inBrowser: number; readonly seed: number },
  onMessage: (made: MadeMessage) => void,
): Promise<void> {
  await using sink = await startSink();
  await using dashboard = await openDashboard({
    env: {
      TRANSPORT: 'capture,smtp',
      SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
      RATE_LIMIT_PREVIEW: '0',
      TEST_SENDS_PER_DAY: '0',
    },
  });
  const page = await ownerPage(dashboard);
  const ask = async <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const { status, data } = await asMember<Data>(page, method, `live/${path}`, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
    return data;
  };
  await ask('PATCH', 'workspace', { branding: { address: '1 Main Street' } });
  const domain = await ask<{ id: string }>('POST', 'domains', { name: 'sender.example' });
  await ask('PATCH', `domains/${domain.id}`, { provider: 'smtp' });
  for (let n = 0; n < count; n++) {
    const isOfBrowser = n < inBrowser;
    const template = {
      name: `Message ${n}`,
      subject: `Message ${n}`,
      format: 'mjml',
      from: 'Acme <news@sender.example>',
      variables: [
        { key: 'month', fallback: 'July' },
        { key: 'name', fallback: 'you' },
      ],
      mjml: isOfBrowser ? EMPTY : generatedSource(seed + n),
    };
    const { id } = await ask<{ id: string }>('POST', 'templates', template);
    if (isOfBrowser) await inChromium(page, `${dashboard.service.url}/app/live/templates/${id}`, seed + n);
    const { mjml } = await ask<{ mjml: string }>('GET', `templates/${id}`);
    const shown = (await ask<{ html: string }>('POST', 'templates/render-preview', { templateId: id })).html;
    await ask('POST', `templates/${id}/test-send`, { to: [ADA], variables: {} });
    const raw = await eventually('it has left', async () => sink.received[n]?.raw);
    const left = (await PostalMime.parse(raw)).html ?? '';
    const problems = problemsOf(mjml);
    // The link is made for each recipient when the email leaves; a message travels with CRLF and ends with a
    // line.
    const link = /https?:[^"]+\/t\/u\/[^"]+/g;
    const plain = (html: string) => html.replaceAll('\r\n', '\n').trimEnd();
    if (plain(left.replace(link, '{{unsubscribeUrl}}')) !== plain(shown))
      problems.push(`It left as ${left.length} characters otherwise than the preview with ${shown.length}.`);
    const design = readDesign(mjml);
    const blocks = design ? choicesOf(design).length : 0;
    onMessage({ seed: seed + n, isOfBrowser, blocks, octets: shown.length, problems });
  }
  for (const complaint of dashboard.complaints) throw new Error(complaint);
}

async function inChromium(page: Page, address: string, seed: number): Promise<void> {
  const random = randomFrom(seed).next;
  await page.goto(address);
  await page.getByRole('region', { name: 'Canvas' }).waitFor();
  await page.getByRole('button', { name: 'Add block' }).click();
  await page.getByRole('menuitem', { name: 'Text', exact: true }).click();
  await page.getByRole('group', { name: /^Text/ }).waitFor();
  for (let n = 0; n < ACTS; n++) await act(page, random);
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  await waitForToast(page, 'Saved and published');
}

/** Differences between a source and what it is after it was read as blocks. */
function problemsOf(source: string): string[] {
  const design = readDesign(source);
  if (!design) return ['Its source cannot be read as blocks.'];
  const written = writeTree(design.tree);
  const again = readDesign(written);
  const kindsOf = (of: typeof design) => choicesOf(of).map(({ block }) => block?.kind ?? 'section');
  return [
    ...(written === source ? [] : ['Its source is written otherwise than it was read.']),
    ...(again && String(kindsOf(again)) === String(kindsOf(design))
      ? []
      : ['It is read as other blocks again.']),
  ];
}
