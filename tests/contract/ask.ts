import { expect } from 'bun:test';
import { connect } from 'node:net';
import { type FailureCode, STATUS_OF } from '../../src/platform/errors/failure.ts';

/** A request. Without `key` no Authorization header is. A body that is no string or bytes goes as JSON. */
export interface Asking {
  readonly method?: string;
  readonly path: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there, not on what a type promises.
  readonly body: any;
}

/** Asks over a real socket, and holds every answer against what is true of all of them. */
export async function ask(
  base: string,
  { method = 'GET', path, key, body, headers = {} }: Asking,
): Promise<Told> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(`${base}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  const told = {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : null,
  };
  expectManners(told, method);
  return told;
}

/** The rules for every response: an id, no sniffing, `data` or the error envelope. */
function expectManners({ status, headers, body, text }: Told, method: string): void {
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-hjkmnp-tv-z]{24}$/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  if (method === 'HEAD' || status === 204) expect(text).toBe('');
  else if (body !== null && status < 400) expect(Object.keys(body)).toContain('data');
  else if (body !== null) expectEnvelope(status, body);
}

/** The error envelope and nothing else: the members that the interface names, of the types it names. */
export function expectEnvelope(status: number, body: unknown): void {
  const { error, ...rest } = body as { error: Record<string, unknown> };
  expect(rest).toEqual({});
  const { code, message, docs, suggestion, details, ...unknown } = error;
  expect(unknown).toEqual({});
  expect(STATUS_OF[code as FailureCode]).toBe(status as never);
  expect(message).toBeString();
  expect(docs).toEndWith(`/docs/errors#${String(code)}`);
  expect(suggestion === undefined || typeof suggestion === 'string').toBe(true);
  expect(details !== undefined).toBe(code === 'VALIDATION_ERROR');
  for (const detail of (details ?? []) as { path: string; message: string }[]) {
    expect(Object.keys(detail).sort()).toEqual(['message', 'path']);
    expect(detail.path).toMatch(/^\/(body|query|headers)(\/|$)/);
    expect(detail.message).toMatch(/^[A-Z].*\.$/s);
  }
}

/** The paths of the details, sorted. */
export const pathsOf = ({ body }: Told): readonly string[] =>
  (body.error.details as { path: string }[]).map(({ path }) => path).sort();

/**
 * Sends bytes as they are and gives back all that comes until the server closes. Ask it to, with `Connection:
 * close`.
 */
export function speak(port: number, request: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let heard = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      heard += text;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(heard));
  });
}
