// The processor time of each act in the editors, until the frame that shows it: the first letter, Enter, a
// paste, undo, a menu, another pane. In a real Chromium, of executables in turns:
//   bun tests/bench/editor-acts.ts --executables BEFORE,dist/posthorn [--only visual] [--rounds 5] [--tasks]
// It counts processor time and multiplies it by four, as for a slower processor. `--tasks` names what the
// slowest round of an act did.
import { parseArgs } from 'node:util';
import type { CDPSession, Locator, Page } from 'playwright-core';
import { openChromium } from '../browser/chromium.ts';
import { asMember, openDashboard, ownerPage } from '../browser/dashboard.ts';
import { startServiceOnServer } from '../support/service.ts';
import { median } from './median.ts';
import { actCost, type Task } from './typing-trace.ts';

const { values } = parseArgs({
  options: {
    executables: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    tasks: { type: 'boolean', default: false },
  },
});
const SLOWED = 4;
const LONG = { name: 'Long', subject: 'Long' };

const numbered = (count: number, each: (number: number) => string) =>
  Array.from({ length: count }, (_, at) => each(at + 1)).join('\n');
const section = (number: number) =>
  `<mj-section background-color="#ffffff"><mj-column><mj-text font-size="16px">Story ${number} of {{ name }}</mj-text><mj-button href="https://example.com/${number}">Read ${number}</mj-button></mj-column></mj-section>`;
const mjml = `<mjml><mj-body>\n${numbered(200, section)}\n</mj-body></mjml>`;
const html = `<html><body>${numbered(600, (number) => `<p>Story ${number} of {{ name }}: <a href="https://example.com/${number}">read</a></p>`)}</body></html>`;

/** Makes an act ready, so that doing it is one key or one press. */
type Ready = (page: Page) => Promise<() => Promise<unknown>>;

const key =
  (name: string): Ready =>
  async (page) =>
  () =>
    page.keyboard.press(name);
const press =
  (find: (page: Page) => Locator): Ready =>
  async (page) => {
    const box = await find(page).first().boundingBox();
    if (!box) throw new Error('It is not shown.');
    return () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  };
const paste =
  (text: string): Ready =>
  async (page) => {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    return () => page.keyboard.press('Control+v');
  };
const button = (name: string) => press((page) => page.getByRole('button', { name }));
const text = (words: string) => press((page) => page.getByText(words, { exact: true }));
const group = (name: RegExp) => press((page) => page.getByRole('group', { name }));

const CODE: readonly (readonly [string, Ready])[] = [
  ['first letter', key('a')],
  ['letter', key('b')],
  ['Enter', key('Enter')],
  ['Backspace', key('Backspace')],
  ['paste of 20 paragraphs', paste(numbered(20, (number) => `<p>Pasted ${number}</p>`))],
  ['undo of it', key('Control+z')],
  ['menu of variables', button('Insert variable')],
  ['closing it', key('Escape')],
];
const VISUAL: readonly (readonly [string, Ready])[] = [
  ['choosing a text', group(/^Text: Story 2 of/)],
  ['first letter', key('a')],
  ['letter', key('b')],
  ['paste of 20 lines', paste(numbered(20, (number) => `Pasted ${number}`))],
  ['undo of it', key('Control+z')],
  ['bold', button('Bold')],
  ['leaving the text', key('Escape')],
  ['menu of blocks', button('Add block')],
  ['closing it', key('Escape')],
  ['choosing another text', group(/^Text: Story 4 of/)],
  ['letter after a menu', key('a')],
  ['pane Code', text('Code')],
  ['pane Visual', text('Visual')],
];

/** Into the word "Story" of the first line that has it. */
async function intoSource(page: Page): Promise<void> {
  await page.locator('.cm-content').click();
  for (const _ of 'ab') await page.keyboard.press('Home');
  const line = (await page.locator('.cm-activeLine').textContent()) ?? '';
  for (const _ of line.slice(0, line.indexOf('Story') + 2)) await page.keyboard.press('ArrowRight');
}

/** An executable with its messages, and a page that is signed in. */
async function open(executable: string, stack: AsyncDisposableStack) {
  const browser = stack.use(await openChromium({ isMeasured: true }));
  const command = executable === '' ? {} : { command: [executable] };
  const dashboard = stack.use(
    await openDashboard(
      { env: { PROFILE: 'development', RATE_LIMIT_PREVIEW: '0' }, ...command },
      browser,
      startServiceOnServer,
    ),
  );
  const page = await ownerPage(dashboard);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.setViewportSize({ width: 1440, height: 900 });
  const make = async (body: object): Promise<string> => {
    let answer = await asMember<{ id: string }>(page, 'POST', 'test/templates', { ...LONG, ...body });
    // A busy machine renders a long message later than the service waits.
    for (let tries = 1; answer.status === 503 && tries < 10; tries++)
      answer = await asMember(page, 'POST', 'test/templates', { ...LONG, ...body });
    return `${dashboard.service.url}/app/test/templates/${answer.data.id}`;
  };
  return {
    page,
    cdp: await page.context().newCDPSession(page),
    visual: await make({ format: 'mjml', mjml }),
    source: await make({ format: 'html', html }),
  };
}
type Subject = Awaited<ReturnType<typeof open>>;

const PLACES: Readonly<Record<string, readonly [(subject: Subject) => Promise<void>, typeof CODE]>> = {
  'code editor, 600 paragraphs': [
    async ({ page, source }) => {
      await page.goto(source);
      await intoSource(page);
    },
    CODE,
  ],
  'visual editor, 200 sections': [
    async ({ page, visual }) => {
      await page.goto(visual);
      await page.getByRole('group', { name: /^Text: Story 200 of/ }).waitFor();
    },
    VISUAL,
  ],
};

/** Until previews and drafts have followed. */
const quiet = (page: Page) =>
  page.evaluate('new Promise((done) => requestIdleCallback(() => setTimeout(done, 900)))');

async function measured(cdp: CDPSession, page: Page, ready: Ready): Promise<Task> {
  const act = await ready(page);
  await quiet(page);
  return actCost(cdp, async () => {
    await act();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  });
}

await using stack = new AsyncDisposableStack();
const executables = values.executables.split(',');
const subjects: Subject[] = [];
for (const executable of executables) subjects.push(await open(executable, stack));
for (const [place, [enter, acts]] of Object.entries(PLACES)) {
  if (!place.includes(values.only)) continue;
  const costs = acts.map(() => executables.map((): Task[] => []));
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [at, subject] of subjects.entries()) {
      await enter(subject);
      for (const [index, [, ready]] of acts.entries())
        costs[index]?.[at]?.push(await measured(subject.cdp, subject.page, ready));
    }
  console.log(`${place}: processor time × ${SLOWED} until the frame, ms, medians (worst) of each executable`);
  for (const [index, [name]] of acts.entries()) {
    const each = costs[index] ?? [];
    const columns = each.map((tasks) => {
      const all = tasks.map(({ ms }) => ms * SLOWED);
      return `${median(all).toFixed(0)} (${Math.max(...all).toFixed(0)})`.padStart(12);
    });
    console.log(`  ${name.padEnd(24)}${columns.join('')}`);
    if (values.tasks)
      for (const tasks of each) console.log(`    ${tasks.toSorted((a, b) => b.ms - a.ms)[0]?.parts}`);
  }
}
