import type { Server } from 'bun';
import type { App } from './mount.ts';

/** Where to listen; port 0 takes a free one. */
export interface ListenOptions {
  readonly hostname: string;
  readonly port: number;
}

/** A pause on a connection; every handler's own deadline is shorter, so that it is answered before Bun cuts it. */
const IDLE_SECONDS = 30;

/** Serves the application over HTTP. The caller stops it. */
export function listen(app: App, { hostname, port }: ListenOptions): Server<undefined> {
  return Bun.serve({
    hostname,
    port,
    idleTimeout: IDLE_SECONDS,
    // Bun's own 413 has no body: every endpoint refuses by itself what is too large for it.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    fetch: app.fetch,
  });
}
