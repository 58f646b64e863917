import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** A real Chromium: the machine's own, else the one that came with the packages. */
export async function openChromium(): Promise<Browser> {
  const own = SYSTEM.find((path) => existsSync(path));
  return await playwright.launch({
    executablePath: own ?? (await chromium.executablePath()),
    // The packages’ own arguments run everything in one process, which a closed page takes down with it.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    headless: true,
  });
}
