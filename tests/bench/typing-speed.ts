// The cost of a letter on the main thread of a real Chromium, in each place where people write:
//   bun tests/bench/typing-speed.ts [--only visual]
// It counts processor time in a trace, which a busy machine does not change, and multiplies it by four, as for a slower processor.
// A person waits for the task of the key, and for the rest of another task where one has just begun (INP): it fails where a task of
// either kind is above 100 ms.
import { parseArgs } from 'node:util';
import { openChromium } from '../browser/chromium.ts';
import { asMember, openDashboard, ownerPage } from '../browser/dashboard.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const SLOWED = 4;
const BOUND_MS = 100;
const TYPED = 'typing these words here now';

/** An event of a trace that has a length; times are microseconds. */
interface TraceEvent {
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur: number;
  /** Processor time of the thread. */
  readonly tdur?: number;
  readonly args?: { readonly data?: { readonly type?: string } };
}

const section = (number: number) =>
  `<mj-section background-color="#ffffff"><mj-column><mj-text font-size="16px">Story ${number} of {{ name }}</mj-text><mj-button href="https://example.com/${number}">Read ${number}</mj-button></mj-column></mj-section>`;
const numbered = (count: number, each: (number: number) => string) =>
  Array.from({ length: count }, (_, at) => each(at + 1)).join('\n');
const mjml = `<mjml><mj-body>\n${numbered(200, section)}\n</mj-body></mjml>`;
const html = `<html><body>${numbered(600, (number) => `<p>Story ${number} of {{ name }}: <a href="https://example.com/${number}">read</a></p>`)}</body></html>`;

await using browser = await openChromium({ isMeasured: true });
await using dashboard = await openDashboard({}, browser);
const page = await ownerPage(dashboard);
await page.setViewportSize({ width: 1440, height: 900 });
const make = async (path: string, body: object): Promise<string> =>
  (await asMember<{ id: string }>(page, 'POST', path, body)).data.id;
const long = { name: 'Long', subject: 'Long' };
const visual = await make('test/templates', { ...long, format: 'mjml', mjml });
const source = await make('test/templates', { ...long, format: 'html', html });
await make('live/contacts', { email: 'ada@example.com', firstName: 'Ada', properties: { plan: 'pro' } });
const audienceId = await make('live/audiences', { name: 'All' });
const campaign = await make('live/campaigns', { name: 'Long', audienceId, subject: 'Long', html });
const cdp = await page.context().newCDPSession(page);

const open = async (path: string) => void (await page.goto(`${dashboard.service.url}/app/${path}`));
const code = () => page.locator('.cm-content').click();
const PLACES: Readonly<Record<string, () => Promise<void>>> = {
  'visual editor, 200 sections': async () => {
    await open(`test/templates/${visual}`);
    await page.getByRole('group', { name: /^Text: Story 2 of/ }).click();
    await page.getByRole('textbox', { name: 'Text', exact: true }).waitFor();
  },
  'code editor, 200 sections': async () => {
    await open(`test/templates/${visual}`);
    await page.getByText('Code', { exact: true }).click();
    await code();
  },
  'code editor, 600 paragraphs': async () => {
    await open(`test/templates/${source}`);
    await code();
  },
  'campaign, 600 paragraphs': async () => {
    await open(`live/campaigns/${campaign}`);
    await code();
  },
  'subject of that campaign': async () => {
    await open(`live/campaigns/${campaign}`);
    await page.getByLabel('Subject', { exact: true }).click();
  },
  'filter builder, 8 conditions': async () => {
    await open('live/audiences/new');
    for (let number = 2; number <= 8; number++)
      await page.getByRole('button', { name: 'Add condition' }).first().click();
    await page.getByLabel('Condition 1: field').selectOption('email');
    await page.getByLabel('Condition 1: value').click();
  },
  'search of contacts': async () => {
    await open('live/contacts');
    await page.getByRole('searchbox').first().click();
  },
  palette: async () => {
    await open('live/emails');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').waitFor();
  },
};

/** Until drafts and previews have followed, and nothing is left to do. */
const quiet = () => page.evaluate('new Promise((done) => requestIdleCallback(() => setTimeout(done, 900)))');

async function type(text: string): Promise<void> {
  for (const letter of text) {
    await page.keyboard.press(letter === ' ' ? 'Space' : letter);
    // About the pace of a quick person: drafts and previews run between the keys.
    await page.evaluate('new Promise((done) => setTimeout(done, 120))');
  }
  await quiet();
}

async function traced(act: () => Promise<void>): Promise<readonly TraceEvent[]> {
  const events: TraceEvent[] = [];
  const note = ({ value }: { value: object[] }) => events.push(...(value as unknown as TraceEvent[]));
  cdp.on('Tracing.dataCollected', note);
  const includedCategories = ['toplevel', 'devtools.timeline'];
  await cdp.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories, excludedCategories: ['*'] },
  });
  await act();
  const complete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
  await cdp.send('Tracing.end');
  await complete;
  cdp.off('Tracing.dataCollected', note);
  return events;
}

const isKey = ({ name, args }: TraceEvent) =>
  name === 'EventDispatch' && /^(?:key|input|before)/.test(args?.data?.type ?? '');
const median = (sorted: readonly number[]) => sorted[sorted.length >> 1] ?? 0;

let isGood = true;
console.log(`Processor time of the main thread × ${SLOWED} in ms, ${TYPED.length} letters:`);
for (const [name, ready] of Object.entries(PLACES)) {
  if (!name.includes(values.only)) continue;
  await ready();
  await type('warm up');
  const events = await traced(() => type(TYPED));
  const thread = events.find(isKey);
  const own = events.filter(({ pid, tid, ph }) => ph === 'X' && pid === thread?.pid && tid === thread.tid);
  const keys = own.filter(isKey);
  // Tasks are nested: an inner one has the outer one around it.
  const tasks = own
    .filter(({ name: each }) => each.endsWith('RunTask'))
    .map(({ ts, dur, tdur = 0 }) => ({
      ms: (tdur * SLOWED) / 1_000,
      hasKey: keys.some((key) => key.ts >= ts && key.ts < ts + dur),
    }));
  const sorted = (hasKey: boolean) =>
    tasks
      .filter((task) => task.hasKey === hasKey)
      .map(({ ms }) => ms)
      .toSorted((a, b) => b - a);
  const [ofKeys, others] = [sorted(true), sorted(false)];
  if (ofKeys.length === 0) throw new Error(`No key was seen in: ${name}`);
  const most = Math.max(ofKeys[0] ?? 0, others[0] ?? 0);
  if (most > BOUND_MS) isGood = false;
  console.log(
    `  ${name.padEnd(30)} key ${median(ofKeys).toFixed(0)} (worst ${ofKeys[0]?.toFixed(0)}), other tasks at most ${others[0]?.toFixed(0)}${most > BOUND_MS ? ', MISSED' : ''}`,
  );
}
process.exitCode = isGood ? 0 : 1;
