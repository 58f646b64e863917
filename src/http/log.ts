/** The methods of the logger that the HTTP layer uses. */
export interface Log {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * A log whose every line is about a request: it names the `x-request-id` that the answer carries, so that the
 * two are found together.
 */
export interface RequestLog {
  warn(fields: OfRequest, message: string): void;
  error(fields: OfRequest, message: string): void;
}

type OfRequest = { readonly requestId: string } & Readonly<Record<string, unknown>>;
