import { drizzle } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import type { Orm } from '../database.ts';
import { wireText } from './wire-text.ts';

/** The connection that runs a statement: a client, or a transaction of it. */
type Runner = Pick<postgres.Sql, 'unsafe'>;

/**
 * Drizzle over a client that takes texts only, or over a transaction of it. Drizzle has no option for a
 * statement that a connection keeps: the ones that it calls prepared are still parsed and planned at every
 * call, with a round trip for that.
 */
export const ormOver = (client: postgres.Sql, prepare: boolean, runner: Runner = client): Orm =>
  drizzle(
    new Proxy(client, {
      get: (target, name) =>
        name === 'unsafe'
          ? (text: string, parameters?: readonly unknown[]) =>
              runner.unsafe(text, parameters?.map(wireText), { prepare })
          : Reflect.get(target, name),
    }),
  ) as unknown as Orm;

/**
 * The engine's statements join a small JSON list to a table by primary key. A generic plan made while the
 * table was empty would scan it for ever after, so only nested loops over indexes are offered.
 */
export const ENGINE_SETTINGS = {
  // The cost that disables a plan makes the planner compile it: 90 ms a statement, for nothing.
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
};
