import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** The sizes and themes of a contact sheet: a screen, a notebook, a tablet and a telephone. */
const SHEETS = [1440, 1280, 768, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((theme) => ({ width, theme })),
);

const HEIGHTS: Readonly<Record<number, number>> = { 1440: 900, 1280: 800, 768: 1024, 390: 844 };
const FOLDER = join(import.meta.dir, '../artefacts/contact-sheet');

/** The columns of a sheet: pictures of telephones stand closer. */
const columnsOf = (width: number): number => (width >= 1280 ? 5 : width >= 768 ? 6 : 9);

/**
 * Pictures of every page, as one HTML page and one PNG for each size and theme, in
 * tests/artefacts/contact-sheet.
 */
export class ContactSheet {
  readonly #names: string[] = [];

  constructor() {
    mkdirSync(FOLDER, { recursive: true });
  }

  /** Takes the page as it is now, in every size and theme. */
  async add(page: Page, name: string): Promise<void> {
    this.#names.push(name);
    for (const { width, theme } of SHEETS) {
      await page.setViewportSize({ width, height: HEIGHTS[width] ?? 900 });
      await page.emulateMedia({ colorScheme: theme });
      const path = join(FOLDER, `${name}-${width}-${theme}.jpg`);
      await page.screenshot({ path, type: 'jpeg', quality: 70, animations: 'disabled' });
    }
  }

  /** Writes the sheets. */
  async write(page: Page): Promise<void> {
    for (const { width, theme } of SHEETS) {
      const name = `${width}-${theme}`;
      const html = this.#html(width, theme);
      writeFileSync(join(FOLDER, `${name}.html`), html);
      await page.setViewportSize({ width: 2_000, height: 1_000 });
      await page.goto(`file://${join(FOLDER, `${name}.html`)}`);
      await page.waitForLoadState('load');
      await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
    }
    const links = SHEETS.map(
      ({ width, theme }) => `<li><a href="${width}-${theme}.html">${width} ${theme}</a>`,
    );
    writeFileSync(
      join(FOLDER, 'index.html'),
      `<!doctype html><title>Contact sheets</title><ul>${links.join('')}</ul>`,
    );
  }

  #html(width: number, theme: string): string {
    const figures = this.#names.map(
      (name) =>
        `<figure><img src="${name}-${width}-${theme}.jpg" alt=""><figcaption>${name}</figcaption></figure>`,
    );
    return `<!doctype html><meta charset="utf-8"><title>${width} ${theme}</title>
<style>body{margin:16px;background:#888;font:13px sans-serif;display:grid;gap:12px;grid-template-columns:repeat(${columnsOf(width)},1fr)}
figure{margin:0}img{width:100%;display:block}figcaption{padding:4px 0}</style>${figures.join('\n')}\n`;
  }
}
