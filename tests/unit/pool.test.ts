import { expect, jest, test } from 'bun:test';
import postgres from 'postgres';
import { HealthProbe } from '../../src/platform/db/server/health-probe.ts';
import { Pool } from '../../src/platform/db/server/pool.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';

/** A pool over a client that never connects: what it answers is up to the test. */
function poolOverNothing() {
  const watch = new HealthProbe({ probe: async () => ({ seen: 'refusing' }), replace: () => {} });
  const client = postgres('postgres://nobody@127.0.0.1:1/nothing', { max: 1 });
  return { pool: new Pool(() => client, watch), watch };
}

/** The result of a statement in postgres.js: an array that knows which command completed. */
const resultOf = (command: string | null, rows: object[]): object[] =>
  Object.defineProperties([...rows], { command: { value: command }, count: { value: rows.length } });

test('a query result without a completed command is a lost reply, not an empty result', async () => {
  const { pool, watch } = poolOverNothing();
  const answered = pool.run(1_000, async () => resultOf(null, []));
  const error = await answered.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(UnavailableError);
  expect((error as UnavailableError).applied).toBe('unknown');
  watch.stop();
  await pool.close();
});

test('an empty query result of a completed command is an empty result', async () => {
  const { pool, watch } = poolOverNothing();
  expect(await pool.run(1_000, async () => resultOf('SELECT', []))).toEqual([]);
  watch.stop();
  await pool.close();
});

test('a statement that cannot be put together leaves no deadline behind', async () => {
  jest.useFakeTimers();
  try {
    const { pool, watch } = poolOverNothing();
    const timers = jest.getTimerCount();
    const failing = pool.run(1_000, () => {
      throw new TypeError('No such column.');
    });
    await expect(failing).rejects.toThrow('No such column.');
    expect(jest.getTimerCount()).toBe(timers);
    watch.stop();
    await pool.close();
  } finally {
    jest.useRealTimers();
  }
});
