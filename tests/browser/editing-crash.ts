import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Page, chromium as playwright } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { chromiumProgram, PATIENCE_MS } from './chromium.ts';
import { asMember, openDashboard, ownerPage, press, signIn } from './dashboard.ts';

/** The letters of one round: 200 take about two seconds. */
const MOST_LETTERS = 200;
/** So often the test looks at what the browser has kept. */
const LETTERS_A_LOOK = 10;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz ';

/** The outcome of one kill of the browser during typing. */
export interface Kill {
  /** All that was typed, the letter on its way included. */
  readonly typed: string;
  /** The text that the browser had kept for certain before the kill. */
  readonly known: string;
  /** The text that the page offers afterwards. */
  readonly restored: string;
  /** The age of the first letter that is gone, at the kill; 0 where all are there. */
  readonly lostMs: number;
}

/**
 * Kills a browser that often while the subject of a campaign is typed, each time after a random number of
 * letters.
 */
export async function killWhileTyping(kills: number, onKill: (kill: Kill) => void): Promise<void> {
  await using dashboard = await openDashboard();
  const { url } = dashboard.service;
  const first = await ownerPage(dashboard);
  const audience = await asMember<{ id: string }>(first, 'POST', 'live/audiences', { name: 'Readers' });
  const body = { name: 'News', audienceId: audience.data.id, html: '<p>x</p>' };
  const { data } = await asMember<{ id: string }>(first, 'POST', 'live/campaigns', body);
  const profile = mkdtempSync(join(tmpdir(), 'posthorn-crash-'));
  try {
    let before: Typing | null = null;
    for (let round = 0; round <= kills; round++) {
      const { page, kill } = await startBrowser(profile);
      const subject = await openCampaign(page, `${url}/app/live/campaigns/${data.id}`);
      if (before) {
        const kept = await keptSubject(page);
        if (kept !== '') await press(page, 'Restore');
        onKill(outcomeOf(before, await subject.inputValue()));
        await subject.fill('');
        await eventually('nothing is kept', async () => (await keptSubject(page)) === '' || undefined);
      }
      await subject.focus();
      if (round < kills) before = await type(page);
      await kill();
    }
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}

interface Typing {
  readonly letters: readonly { readonly letter: string; readonly sentAt: number }[];
  readonly known: string;
  readonly endedAt: number;
}

/** Types a random number of letters. The last one is still on its way when it returns. */
async function type(page: Page): Promise<Typing> {
  const letters: { letter: string; sentAt: number }[] = [];
  const many = 1 + Math.floor(Math.random() * MOST_LETTERS);
  let known = '';
  for (let n = 0; n < many; n++) {
    const letter = ALPHABET[Math.floor(Math.random() * ALPHABET.length)] ?? 'x';
    letters.push({ letter, sentAt: Date.now() });
    const sent = page.keyboard.insertText(letter);
    if (n === many - 1) void sent.catch(() => {});
    else await sent;
    if (n % LETTERS_A_LOOK === LETTERS_A_LOOK - 1 && n < many - 1) known = await keptSubject(page);
  }
  return { letters, known, endedAt: Date.now() };
}

function outcomeOf({ letters, known, endedAt }: Typing, restored: string): Kill {
  const typed = letters.map(({ letter }) => letter).join('');
  const lost = letters[restored.length];
  return { typed, known, restored, lostMs: lost ? endedAt - lost.sentAt : 0 };
}

/** Opens the editor, signed in, and returns its field of the subject. */
async function openCampaign(page: Page, address: string) {
  await page.goto(address);
  const subject = page.getByLabel('Subject', { exact: true });
  const whose = page.getByLabel('Email address', { exact: true });
  await subject.or(whose).waitFor();
  if (await whose.isVisible()) {
    await signIn(page);
    await subject.waitFor();
  }
  return subject;
}

/** A browser with a profile on the disk, which can be killed and started again. */
async function startBrowser(profile: string) {
  rmSync(join(profile, 'DevToolsActivePort'), { force: true });
  const running = Bun.spawn(
    [
      await chromiumProgram(),
      '--headless=new',
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--no-first-run',
      `--user-data-dir=${profile}`,
      '--remote-debugging-port=0',
      'about:blank',
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
