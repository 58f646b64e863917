import { expect } from 'bun:test';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

// The looks of a page, for axe and for people: at every width, in both themes.

/** The small form, less than half of the other: every page that is looked at reads it once. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const ARTEFACTS = join(import.meta.dir, '../artefacts');
const HEIGHTS = { 1440: 900, 768: 1024, 390: 844 } as const;
type Width = keyof typeof HEIGHTS;
type Theme = 'light' | 'dark';
const WIDTHS = [1440, 768, 390] as const satisfies readonly Width[];

// PICTURES=1 leaves a picture of each view in tests/artefacts, at every width and in both themes, to be
// looked at.
const TAKES_PICTURES = Boolean(process.env.PICTURES);

/** The rules of axe: all, or only those that another theme can break. */
const RULES = {
  all: `rules: { 'label-content-name-mismatch': { enabled: true }, 'target-size': { enabled: true } }`,
  colours: `runOnly: ['color-contrast', 'link-in-text-block']`,
} as const;

/**
 * The views that are examined. The theme changes colours and the width the visible parts, so that the widest
 * and the narrowest view are looked at as a whole, one in each theme, and of the widest in the other theme
 * the colours that the narrowest did not show. The width between has the columns of the one and the bar of
 * the other: of it only the layout is measured.
 */
const LOOKS = [
  [1440, 'light', 'all'],
  [768, 'light', null],
  [390, 'dark', 'all'],
  [1440, 'dark', 'new colours'],
] as const satisfies readonly (readonly [Width, Theme, string | null])[];

/** Has `drawn` hold each element in sight that shows text, with its colour and all that lies behind it. */
const DRAWN = `(() => {
  const known = new Map();
  const behind = (each) => {
    if (each === null) return '';
    const found = known.get(each);
    if (found !== undefined) return found;
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(each);
    const own = [backgroundColor, backgroundImage, opacity].join();
    const all = (own === 'rgba(0, 0, 0, 0),none,1' ? '' : own + '|') + behind(each.parentElement);
    known.set(each, all);
    return all;
  };
  const shows = (each) =>
    /^(INPUT|SELECT|TEXTAREA)$/.test(each.tagName) ||
    [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
  const look = (each) => {
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(each);
    const { width, height } = each.getBoundingClientRect();
    return [width > 1 && height > 1, color, fontSize, fontWeight, textDecorationLine, behind(each)].join();
  };
  return new Map(
    [...document.body.querySelectorAll('*')]
      .filter((each) => shows(each) && each.checkVisibility({ visibilityProperty: true }))
      .map((each) => [each, look(each)]),
  );
})()`;

/**
 * Breaches of the WCAG and of good practice, each with its element and what is wrong; `within` says where
 * they are looked for.
 */
export async function violations(
  page: Page,
  rules: string = RULES.all,
  within = 'document',
): Promise<readonly string[]> {
  if ((await page.evaluate('"axe" in window')) !== true) await page.evaluate(AXE);
  // Messages in frames are their authors' own; styles are read where they are in force.
  return (await page.evaluate(`axe.run(${within}, {
    resultTypes: ['violations'], iframes: false, preload: false, ${rules},
  }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ' at ' + target.join(' ') + ': ' + failureSummary)))`)) as string[];
}

/** The pixels by which the page overflows the window sideways, or the content of a dialog the dialog. */
export const sidewaysOf = (page: Page): Promise<unknown> =>
  page.evaluate(
    `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() =>
      Math.max(...[document.documentElement, ...document.querySelectorAll('dialog[open]')].map((each) => each.scrollWidth - each.clientWidth)))`,
  );

/**
 * Ends what moves and ends by itself. A colour that is half-way between two themes is no colour of either.
 */
const SETTLED = `Promise.all(document.getAnimations()
  .filter((each) => each.effect?.getComputedTiming().endTime !== Infinity).map((each) => each.finish()))`;

async function show(page: Page, width: Width, colorScheme: Theme): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHTS[width] });
  await page.emulateMedia({ colorScheme });
  await page.evaluate(SETTLED);
}

/** Takes a picture of the page as it is now, where pictures are asked for. */
export async function pictureOf(page: Page, name: string): Promise<void> {
  if (!TAKES_PICTURES) return;
  const path = join(ARTEFACTS, `${name}.png`);
  mkdirSync(join(path, '..'), { recursive: true });
  await page.screenshot({ path, fullPage: true, animations: 'disabled' });
}

/** Breaches of what has other colours now than when `drawn` was made, or was not in sight then. */
async function violationsOfNewColours(page: Page): Promise<readonly string[]> {
  const news = await page.evaluate(
    `(window.news = [...${DRAWN}].flatMap(([each, look]) => (window.drawn.get(each) === look ? [] : [each]))).length`,
  );
  return news === 0 ? [] : await violations(page, RULES.colours, 'window.news');
}

/**
 * Looks at the page at every width and in both themes: no rule of accessibility is broken, nothing runs out
 * of it sideways.
 */
export async function inspect(page: Page, name: string): Promise<void> {
  for (const [width, theme, rules] of LOOKS) {
    await show(page, width, theme);
    expect([name, width, await sidewaysOf(page)]).toEqual([name, width, 0]);
    if (rules === null) continue;
    const found = rules === 'all' ? await violations(page) : await violationsOfNewColours(page);
    expect([name, width, theme, found]).toEqual([name, width, theme, []]);
    await page.evaluate(`window.drawn = ${DRAWN}; undefined`);
  }
  for (const width of TAKES_PICTURES ? WIDTHS : [])
    for (const theme of ['light', 'dark'] as const) {
      await show(page, width, theme);
      await pictureOf(page, `application/${name}-${width}-${theme}`);
    }
  await show(page, 1440, 'light');
}
