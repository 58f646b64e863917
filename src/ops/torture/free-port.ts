import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that systems give to clients, and to servers that ask for any port: none of these takes one
 * between the answer and its use, which may be seconds apart. Browsers refuse 10080.
 */
const LOWEST = 11_000;
const HIGHEST = 32_767;

/**
 * Processes whose ids differ, modulo this, ask for different ports: one that is free may be in use only
 * seconds later.
 */
const SHARES = 64;
const SHARE = Math.floor((HIGHEST - LOWEST + 1) / SHARES);

let asked = Math.floor(Math.random() * SHARE);

/** A port of 127.0.0.1 that nothing listens on, another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + (asked++ % SHARE) * SHARES + (process.pid % SHARES);
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
