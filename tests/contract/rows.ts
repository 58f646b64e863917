import { expect, test } from 'bun:test';
import type { FailureCode } from '../../src/platform/errors/failure.ts';
import { type Asking, ask, pathsOf } from './ask.ts';

/**
 * One rule a row: what is asked, the status, the code where it is an error, and the places it names, sorted.
 */
export type Row = readonly [
  rule: string,
  asking: Asking,
  status: number,
  code?: FailureCode,
  paths?: readonly string[],
];

/** Makes each row a test against the service. */
export function hold({ url }: { readonly url: string }, rows: readonly Row[]): void {
  for (const [rule, asking, status, code, paths] of rows) {
    test(rule, async () => {
      const reply = await ask(url, asking);
      expect({ status: reply.status, code: reply.body?.error?.code }).toEqual({ status, code });
      if (paths) expect(pathsOf(reply)).toEqual([...paths]);
    });
  }
}
