import type { CDPSession, Page } from 'playwright-core';

/** Milliseconds from each key to the first change that the preview shows of it. */
export interface PreviewDelays {
  readonly p50: number;
  readonly p98: number;
}

// One that has not followed after ten seconds counts as ten. The frame with the message and the lines above
// it: what the page itself changes meanwhile, such as "Not saved yet", is not counted.
const WATCH = `
  globalThis.previewFollows = (done) => {
    let pressedAt = 0;
    const seen = new MutationObserver(() => {
      if (pressedAt === 0) return;
      end();
    });
    // A service that is busy may refuse to render, and the preview stays until the next key.
    const late = setTimeout(() => end(), 10_000);
    const end = () => {
      clearTimeout(late);
      seen.disconnect();
      done(performance.now() - pressedAt);
    };
    addEventListener('keydown', ({ timeStamp }) => { pressedAt = timeStamp; }, { capture: true, once: true });
    const section = document.querySelector('section[aria-label=Preview]');
    const all = { subtree: true, childList: true, characterData: true, attributes: true };
    seen.observe(section.querySelector('iframe').contentDocument, all);
    seen.observe(section.querySelector('.border-b.px-4'), all);
  };
`;

const LETTERS = 30;

/** Types letter by letter, each once the preview has followed the one before. */
export async function previewDelays(page: Page, cdp: CDPSession, slowed: number): Promise<PreviewDelays> {
  await page.evaluate(WATCH);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowed });
  const delays: number[] = [];
  for (let letter = 0; letter < LETTERS; letter++) {
    await page.evaluate('void (globalThis.followed = new Promise(previewFollows))');
    await page.keyboard.press('e');
    delays.push(await page.evaluate<number>('followed'));
  }
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  delays.sort((a, b) => a - b);
  return {
    p50: Math.round(delays[LETTERS >> 1] ?? 0),
    p98: Math.round(delays[Math.floor(LETTERS * 0.98)] ?? 0),
  };
}
