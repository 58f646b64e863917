import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { startCluster } from '../support/cluster.ts';

// The server of the tests and of `posthorn torture` tells that it is up wherever its log goes.

test.each([
  ['to the standard error stream', {}],
  ['to a collector', { logging_collector: 'on' }],
  ['nowhere', { log_min_messages: 'panic' }],
])('a server that logs %s is up, and again after a strike', async (_, settings: Record<string, string>) => {
  const cluster = await startCluster({ settings });
  try {
    const answer = async () => {
      const sql = postgres(cluster.url, { max: 1 });
      try {
        return (await sql`select 1 as one`)[0]?.one;
      } finally {
        await sql.end();
      }
    };
    expect(await answer()).toBe(1);
    await cluster.strike();
    await cluster.up();
    expect(await answer()).toBe(1);
  } finally {
    await cluster.stop();
  }
});
