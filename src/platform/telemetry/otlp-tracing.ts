import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { isDoneWithin } from '../async/deadline.ts';
import type {
  EmailSpan,
  OnRoute,
  SpanAttributes,
  TracedRequest,
  Tracing,
  TracingOptions,
} from './tracing.ts';

/** Spans that wait for the collector, some 2 kB each; those beyond are dropped. */
export const MOST_WAITING_SPANS = 4_096;
/** Spans of one post to the collector. */
export const MOST_SPANS_AT_ONCE = 512;
const EVERY_MS = 1_000;
/** One post with its repetitions; what it held is lost then. */
const POST_MS = 4_000;
const STOP_MS = 1_000;

/** Asked every few seconds by machines: they would be most of all traces. */
const UNTRACED = new Set(['/health', '/ready']);

/** The trace of an email and the span of its acceptance: the first 24 octets of its id's hash. */
function placeOf(emailId: string): { readonly traceId: string; readonly spanId: string } {
  const hash = new Bun.CryptoHasher('sha256').update(emailId).digest('hex');
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/** Random ids, or for one span those that it is to have. */
class ChosenIds {
  readonly #random = new RandomIdGenerator();
  #chosen: { readonly traceId: string; readonly spanId: string } | null = null;

  generateTraceId = (): string => this.#chosen?.traceId ?? this.#random.generateTraceId();
  generateSpanId = (): string => this.#chosen?.spanId ?? this.#random.generateSpanId();

  with(chosen: { readonly traceId: string; readonly spanId: string }, start: () => Span): Span {
    this.#chosen = chosen;
    try {
      return start();
    } finally {
      this.#chosen = null;
    }
  }
}

/** The span of a request; null before its route is known, and for a request that is not traced. */
interface RequestSpan {
  span: Span | null;
}

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
};

/**
 * As OpenTelemetry takes a time: a plain number is taken for one of the process when it lies before its
 * start.
 */
const hrTime = (ms: number): HrTime => [Math.trunc(ms / 1_000), Math.round((ms % 1_000) * 1e6)];

/** Tracing by the library of OpenTelemetry, loaded only where a collector is named. */
export class OtlpTracing implements Tracing {
  readonly #ids = new ChosenIds();
  readonly #sampler: TraceIdRatioBasedSampler;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #now: () => number;
  /** The request in whose handling something happens. */
  readonly #requests = new AsyncLocalStorage<RequestSpan>();
  readonly #propagator = new W3CTraceContextPropagator();

  constructor(options: TracingOptions & { readonly endpoint: string }) {
    const { endpoint, headers, serviceName, version, ratio, now, warn } = options;
    this.#now = now;
    this.#sampler = new TraceIdRatioBasedSampler(ratio);
    const exporter = new OTLPTraceExporter({
      url: `${endpoint}/v1/traces`,
      headers: { ...headers },
      timeoutMillis: POST_MS,
    });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
      sampler: new ParentBasedSampler({ root: this.#sampler }),
      idGenerator: this.#ids,
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: telling(exporter, endpoint, warn),
          maxQueueSize: MOST_WAITING_SPANS,
          maxExportBatchSize: MOST_SPANS_AT_ONCE,
          scheduledDelayMillis: EVERY_MS,
          exportTimeoutMillis: POST_MS + 1_000,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('posthorn', version);
  }

  async request(
    { method, headers }: TracedRequest,
    answer: (onRoute: OnRoute) => Promise<Response>,
  ): Promise<Response> {
    const request: RequestSpan = { span: null };
    const onRoute: OnRoute = (route) => {
      if (UNTRACED.has(route)) return;
      request.span = this.#tracer.startSpan(
        route === 'unknown' ? method : `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          startTime: hrTime(this.#now()),
          attributes: { 'http.request.method': method, 'http.route': route },
        },
        this.#propagator.extract(ROOT_CONTEXT, headers, HEADERS),
      );
    };
    const response = await this.#requests.run(request, () => answer(onRoute));
    const { span } = request;
    if (!span) return response;
    const { status } = response;
    span.setAttribute('http.response.status_code', status);
    span.setAttribute('posthorn.request.id', response.headers.get('x-request-id') ?? '');
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(hrTime(this.#now()));
    return response;
  }

  accepted(emailId: string, startedAt: number, attributes: SpanAttributes): void {
    const request = this.#requests.getStore()?.span;
    const span = this.#ids.with(placeOf(emailId), () =>
      this.#tracer.startSpan(
        'email accepted',
        {
          root: true,
          kind: SpanKind.PRODUCER,
          startTime: hrTime(startedAt),
          attributes: { ...(attributes as Attributes), 'posthorn.email.id': emailId },
          links: request ? [{ context: request.spanContext() }] : [],
        },
        ROOT_CONTEXT,
      ),
    );
    request?.addLink({ context: span.spanContext(), attributes: { 'posthorn.email.id': emailId } });
    span.end(hrTime(this.#now()));
  }

  record({ emailId, name, startedAt, attributes, problem }: EmailSpan): void {
    const span = this.#tracer.startSpan(
      name,
      {
        kind: SpanKind.CLIENT,
        startTime: hrTime(startedAt),
        attributes: { ...(attributes as Attributes), ...(emailId && { 'posthorn.email.id': emailId }) },
      },
      emailId === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, this.#acceptanceOf(emailId)),
    );
    if (problem !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: problem });
    span.end(hrTime(this.#now()));
  }

  async close(): Promise<void> {
    // A collector that is away must not hold up the stop.
    await isDoneWithin(STOP_MS, this.#provider.shutdown()).catch(() => {});
  }

  /** The span of an acceptance, on any instance: the trace's id alone decides whether it is recorded. */
  #acceptanceOf(emailId: string): SpanContext {
    const place = placeOf(emailId);
    const { decision } = this.#sampler.shouldSample(ROOT_CONTEXT, place.traceId);
    const isSampled = decision === SamplingDecision.RECORD_AND_SAMPLED;
    return { ...place, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
  }
}

/** The exporter, with a warning when the collector does not take what it is sent. */
const telling = (
  exporter: SpanExporter,
  endpoint: string,
  warn: (fields: Readonly<Record<string, unknown>>, message: string) => void,
): SpanExporter => ({
  export: (spans, told) =>
    exporter.export(spans, (result) => {
      if (result.code !== ExportResultCode.SUCCESS)
        warn(
          { collector: new URL(endpoint).host, lost: spans.length, err: result.error },
          'The collector of OTEL_EXPORTER_OTLP_ENDPOINT refused traces. Sending continues without them.',
        );
      told(result);
    }),
  shutdown: () => exporter.shutdown(),
});
