import type { Detail } from '../../../../../platform/errors/failure.ts';

/** A refusal of the service, in its own words. Status 0: it did not answer. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly suggestion: string | null = null,
    readonly details: readonly Detail[] = [],
  ) {
    super(message);
  }
}

/**
 * True where the service has read a request and does not take it; else it may have been carried out, or can
 * be tried again.
 */
export const isFinal = (error: unknown): boolean =>
  error instanceof RequestError && error.status >= 400 && error.status < 500 && error.status !== 429;

/** The envelope of an answer. */
export interface Answer<Data> {
  readonly data: Data;
  readonly pagination?: { readonly hasMore: boolean; readonly nextCursor: string | null };
}

interface Refusal {
  readonly error?: {
    readonly message: string;
    readonly suggestion?: string;
    readonly details?: readonly Detail[];
  };
}

/** The parts of a request besides its path. */
export interface RequestOptions {
  /** JSON, also one that is written already, or a file with its own type. */
  readonly body?: object | string | null;
  /** The workspace that the request is for: that of the page unless another one is named, null for none. */
  readonly workspaceId?: string | null;
  readonly signal?: AbortSignal;
  /** Hears of the headers of the answer, of a refusal too. */
  readonly onHeaders?: (headers: Headers) => void;
}

let shown: string | null = null;

/** Has every request name the workspace of this page, because other tabs may show other ones. */
export const showWorkspace = (id: string): void => {
  shown = id;
};

/** Asks the service: under `/app/api` unless the path is a whole one. @throws RequestError */
export async function request<Data>(
  method: string,
  path: string,
  sent: RequestOptions = {},
): Promise<Answer<Data>> {
  const { body, workspaceId = shown, signal } = sent;
  const isFile = body instanceof Blob;
  const headers = {
    ...(body && { 'content-type': isFile ? body.type : 'application/json' }),
    ...(workspaceId !== null && { 'x-svc-workspace': workspaceId }),
  };
  const response = await fetch(path.startsWith('/') ? path : `/app/api/${path}`, {
    method,
    headers,
    ...(body && { body: isFile || typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    return null;
  });
  if (!response)
    throw new RequestError(0, 'The service is not reachable.', 'Check that it is running, then try again.');
  sent.onHeaders?.(response.headers);
  if (response.status === 204) return { data: null as Data };
  if (response.ok && response.headers.get('content-type') === 'message/rfc822')
    return { data: (await response.blob()) as Data };
  if (response.ok && !(response.headers.get('content-type') ?? '').includes('json'))
    return { data: (await response.text()) as Data };
  const answer = ((await response.json().catch(() => null)) ?? {}) as Answer<Data> & Refusal;
  if (response.ok) return answer;
  const { message = `The service answered ${response.status}.`, suggestion, details } = answer.error ?? {};
  throw new RequestError(response.status, message, suggestion ?? null, details ?? []);
}
