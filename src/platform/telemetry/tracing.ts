/** The attributes of a span; never an address, a path with a token in it, or anything of a message. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Something that happened to an email, once it is over. Times are epoch milliseconds. */
export interface EmailSpan {
  /** Null for a span that belongs to no email, which gets a separate trace. */
  readonly emailId: string | null;
  readonly name: string;
  readonly startedAt: number;
  readonly attributes: SpanAttributes;
  /** The problem, in a few words; null without one. */
  readonly problem: string | null;
}

/** A request, as its span describes it. */
export interface TracedRequest {
  readonly method: string;
  readonly headers: Headers;
}

/** Takes the pattern of the route, never the path, once it is known. */
export type OnRoute = (route: string) => void;

/**
 * Traces for OpenTelemetry. All that happens to an email lies in one trace, whose ids are computed of the
 * email's own, so that a later attempt finds it on any instance and after any restart without a column for
 * it. The trace of the request that brought the email is the caller's; the two are linked both ways.
 */
export interface Tracing {
  /**
   * Answers a request inside a span, below the caller's (`traceparent`, W3C Trace Context level 1). The span
   * begins with the route, which names it.
   */
  request(asked: TracedRequest, answer: (onRoute: OnRoute) => Promise<Response>): Promise<Response>;
  /** An email has been accepted, in the request that is being answered or by the service itself. */
  accepted(emailId: string, startedAt: number, attributes: SpanAttributes): void;
  /** Records what happened to an email. It never throws and never waits. */
  record(span: EmailSpan): void;
  /** Sends what is waiting, for a second at most. */
  close(): Promise<void>;
}

/** The destination of spans, and their share. */
export interface TracingOptions {
  /** The base address of a collector that speaks OTLP over HTTP; null records nothing. */
  readonly endpoint: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly version: string;
  /** The share of traces that is recorded where no caller decides it, 0 to 1. */
  readonly ratio: number;
  readonly now: () => number;
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}
