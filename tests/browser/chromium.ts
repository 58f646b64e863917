import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * The second compiler of hot scripts pays for itself after minutes, which no page of a test lives: an eighth
 * less of the processor.
 */
const BRIEF = '--js-flags=--no-maglev --no-turbofan';

/**
 * Milliseconds that a test waits for a thing on a page. Two minutes are enough on a busy machine, and a word
 * that has changed does not keep a worker for the ten minutes of a whole test.
 */
export const PATIENCE_MS = Number(process.env.PATIENCE ?? 120_000);

/**
 * The machine's own Chromium, else the one that came with the packages, which the first caller unpacks into
 * the temporary folder.
 */
export const chromiumProgram = async (): Promise<string> =>
  SYSTEM.find((path) => existsSync(path)) ?? (await chromium.executablePath());

/** A real Chromium. One that is measured is as people have it. */
export async function openChromium({ isMeasured = false } = {}): Promise<Browser> {
  return await playwright.launch({
    executablePath: await chromiumProgram(),
    // The packages’ own arguments run everything in one process, which a closed page takes down with it.
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...(isMeasured ? [] : [BRIEF])],
    headless: true,
  });
}
