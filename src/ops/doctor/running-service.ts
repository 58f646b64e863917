/** The health that a running service reports. */
export interface Health {
  readonly scheduler: {
    readonly status: 'ok' | 'late' | 'paused' | 'stopped';
    readonly oldestDueSeconds: number;
    readonly clockSkewMs: number;
  };
  /** The release of the time zone database that it goes by; null of a version that does not say. */
  readonly zonesRelease: string | null;
}

interface Answer extends Pick<Health, 'scheduler'> {
  readonly timeZones: { readonly release: string };
}

const PATIENCE_MS = 3_000;

/** Asks the service on this machine; null when none answers. */
export async function askService(host: string, port: number): Promise<Health | null> {
  try {
    const response = await fetch(`http://${loopbackOf(host)}:${port}/health`, {
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const { data } = (await response.json()) as { readonly data?: Partial<Answer> };
    return data?.scheduler
      ? { scheduler: data.scheduler, zonesRelease: data.timeZones?.release ?? null }
      : null;
  } catch {
    return null;
  }
}

/** The metrics of the service on this machine; null when none answers. */
export const readMetrics = (host: string, metricsPort: number): Promise<string | null> =>
  fetch(`http://${loopbackOf(host)}:${metricsPort}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    .then((response) => response.text())
    .catch(() => null);

/** The address at which this machine reaches a service that listens on every address. */
export function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
