import { randomUUID } from 'node:crypto';
import type { Client, Reply } from './client.ts';
import { eventually } from './eventually.ts';

/** The part of an answer that such a client reads. */
type Answer = Pick<Reply, 'status' | 'body'>;

/** Asked too often, a busy service is busier still; and it has as long as a test may take at all. */
const PATIENCE = { withinMs: 500_000, everyMs: 500 };

const isAnswer = ({ status, body }: Answer): boolean =>
  status !== 503 && body?.error?.code !== 'IDEMPOTENCY_IN_PROGRESS';

/**
 * Asks as a client does that wants an answer: what the service had no time for (503) is asked again under the
 * same Idempotency-Key, so that it happens once, until it is known how it went. For tests that are about
 * something else than what a busy machine has time for.
 */
export function insistently<A extends Answer>(
  ask: (headers: Readonly<Record<string, string>>) => Promise<A>,
): Promise<A> {
  const headers = { 'idempotency-key': randomUUID() };
  const answer = async () => {
    const told = await ask(headers);
    return isAnswer(told) ? told : undefined;
  };
  return eventually('an answer that is none of a busy machine', answer, PATIENCE);
}

/** The same client, which insists. */
export const insisting = (client: Client): Client => ({
  get: (path, headers) => insistently(() => client.get(path, headers)),
  post: (path, body, headers) => insistently((own) => client.post(path, body, { ...own, ...headers })),
  patch: (path, body, headers) => insistently(() => client.patch(path, body, headers)),
  delete: (path, headers) => insistently(() => client.delete(path, headers)),
});
