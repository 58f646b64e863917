import { eventually } from './eventually.ts';

/** A span as OTLP/HTTP has it in JSON. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

/** A collector of OpenTelemetry in this process. */
export interface Collector extends Disposable {
  readonly url: string;
  readonly spans: CollectedSpan[];
  readonly paths: string[];
  readonly headers: Headers[];
  readonly resources: Readonly<Record<string, unknown>>[];
  /** Runs before each answer. */
  before: () => Promise<void> | void;
  /** The spans, once they hold. */
  until(what: string, is: (spans: readonly CollectedSpan[]) => boolean): Promise<readonly CollectedSpan[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: values of OTLP are unions of a dozen members.
const plainOf = (value: any): unknown =>
  value.arrayValue
    ? (value.arrayValue.values ?? []).map(plainOf)
    : value.intValue !== undefined
      ? Number(value.intValue)
      : (value.stringValue ?? value.boolValue ?? value.doubleValue);
// biome-ignore lint/suspicious/noExplicitAny: as above.
const attributesOf = (list: any[] = []) =>
  Object.fromEntries(list.map(({ key, value }) => [key, plainOf(value)]));

export function openCollector(): Collector {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      // biome-ignore lint/suspicious/noExplicitAny: what was really sent.
      const body = (await request.json()) as any;
      collector.paths.push(`${request.method} ${new URL(request.url).pathname}`);
      collector.headers.push(request.headers);
      for (const { resource, scopeSpans } of body.resourceSpans) {
        collector.resources.push(attributesOf(resource.attributes));
        for (const { spans } of scopeSpans)
          for (const span of spans)
            collector.spans.push({
              links: [],
              status: {},
              ...span,
              attributes: attributesOf(span.attributes),
            });
      }
      await collector.before();
      return Response.json({});
    },
  });
  const collector: Collector = {
    url: `http://127.0.0.1:${server.port}`,
    spans: [],
    paths: [],
    headers: [],
    resources: [],
    before: () => {},
    until: (what, is) =>
      eventually(what, async () => (is(collector.spans) ? [...collector.spans] : undefined), { everyMs: 20 }),
    [Symbol.dispose]: () => void server.stop(true),
  };
  return collector;
}
