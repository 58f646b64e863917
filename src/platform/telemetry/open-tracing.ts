import type { Tracing, TracingOptions } from './tracing.ts';

/** Opens the tracing; null, with nothing loaded, where no collector is named. */
export async function openTracing(options: TracingOptions): Promise<Tracing | null> {
  const { endpoint } = options;
  if (endpoint === null) return null;
  const { OtlpTracing } = await import('./otlp-tracing.ts');
  return new OtlpTracing({ ...options, endpoint });
}
