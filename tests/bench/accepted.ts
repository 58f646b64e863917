import { type LoadResult, load, type PreparedRequest } from './load.ts';

/** The email that every row sends. */
export const EMAIL = {
  from: 'Acme <hello@acme.example>',
  to: 'ada@example.com',
  subject: 'Your order is on its way',
  text: 'x'.repeat(1_000),
  html: `<p>${'y'.repeat(1_000)}</p>`,
};
/** Far enough ahead that nothing of it happens during a run. */
export const IN_A_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();

/** Loads, and takes nothing but 202. */
export async function allAccepted(
  request: PreparedRequest,
  connections: number,
  count: number,
): Promise<LoadResult> {
  const result = await load(request, connections, count);
  if (result.statuses['202'] !== count)
    throw new Error(`Not all were accepted: ${JSON.stringify(result.statuses)}`);
  return result;
}
