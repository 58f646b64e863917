import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that systems give to clients, and to servers that ask for any port: none of these takes one
 * between the answer and its use, which may be seconds apart. Browsers refuse 10080.
 */
const LOWEST = 11_000;
const HIGHEST = 32_767;
const COUNT = HIGHEST - LOWEST + 1;

/** Each process begins elsewhere, so that two of them do not ask for the same ports at once. */
let asked = Math.floor(Math.random() * COUNT);

/** A port of 127.0.0.1 that nothing listens on, another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + (asked++ % COUNT);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
