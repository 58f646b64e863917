import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Page, chromium as playwright } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { chromiumProgram, PATIENCE_MS } from './chromium.ts';
import { ADA, asMember, openDashboard, PASSWORD, press, signUp, typeInto } from './dashboard.ts';

/** The browser dies in each of them but the last. */
const ROUNDS = 2;
const LETTERS = 'died in the middle of a word';

/** A browser with a profile on the disk, which can be killed and started again. */
async function startBrowser(profile: string) {
  rmSync(join(profile, 'DevToolsActivePort'), { force: true });
  const running = Bun.spawn(
    [
      await chromiumProgram(),
      ...['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--no-first-run'],
      ...[`--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'],
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  );
  const port = await eventually('the browser listens', async () => {
    try {
      return readFileSync(join(profile, 'DevToolsActivePort'), 'utf8').split('\n')[0] || undefined;
    } catch {
      return undefined;
    }
  });
  const browser = await playwright.connectOverCDP(`http://127.0.0.1:${port}`);
  const page = await (browser.contexts()[0] ?? (await browser.newContext())).newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  return {
    page,
    async kill() {
      running.kill('SIGKILL');
      await running.exited;
      await browser.close().catch(() => {});
    },
  };
}

/** The subject that the browser keeps, or nothing. */
const keptSubject = (page: Page): Promise<string> =>
  page.evaluate<string>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('posthorn drafts', 1);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const all = opening.result.transaction('drafts').objectStore('drafts').getAll();
      all.onsuccess = () => resolve(all.result.toSorted((a, b) => b.at - a.at)[0]?.values.subject ?? '');
    };
  })`);

test('a browser that is killed during typing loses nothing that was kept', async () => {
  await using dashboard = await openDashboard();
  const { url } = dashboard.service;
  const first = await dashboard.newcomer();
  await signUp(dashboard, first);
  const audience = await asMember<{ id: string }>(first, 'POST', 'live/audiences', { name: 'Readers' });
  const body = { name: 'News', audienceId: audience.data.id, html: '<p>x</p>' };
  const { data } = await asMember<{ id: string }>(first, 'POST', 'live/campaigns', body);
  const profile = mkdtempSync(join(tmpdir(), 'posthorn-crash-'));
  try {
    let typed = '';
    for (let round = 0; round < ROUNDS; round++) {
      const { page, kill } = await startBrowser(profile);
      await page.goto(`${url}/app/live/campaigns/${data.id}`);
      const subject = page.getByLabel('Subject', { exact: true });
      const signIn = page.getByLabel('Email address', { exact: true });
      await subject.or(signIn).waitFor();
      if (await signIn.isVisible()) {
        await typeInto(page, { 'Email address': ADA, Password: PASSWORD });
        await page.keyboard.press('Enter');
        await subject.waitFor();
      }
      if (round > 0) {
        await press(page, 'Restore');
        // All that was known to be kept is there; the letter that was on its way may be.
        expect(['', 'x']).toContain((await subject.inputValue()).replace(typed, ''));
      }
      if (round === ROUNDS - 1) {
        await kill();
        break;
      }
      // It dies as soon as what was typed is kept, with another letter on its way.
      const more = LETTERS.slice(0, 1 + Math.floor(Math.random() * LETTERS.length));
      await subject.focus();
      await page.keyboard.insertText(more);
      typed += more;
      await eventually('it is kept', async () => (await keptSubject(page)) === typed || undefined);
      void subject.press('x').catch(() => {});
      await kill();
    }
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
});
