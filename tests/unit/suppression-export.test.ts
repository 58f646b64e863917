import { expect, test } from 'bun:test';
import type { Call } from '../../src/http/request/route.ts';
import type { Signer } from '../../src/platform/crypto/signer.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { exportSuppressions, importSuppressions } from '../../src/sending/suppressions/csv.ts';

test('an export lets other requests in between its pages, though the database answers at once', async () => {
  const row = (_: unknown, n: number) => ({
    address_key: `a${n}`,
    address: 'a@b.example',
    reason: 'manual',
    since: 'x',
  });
  const seen: number[] = [];
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const query = async () => {
    seen.push(turns);
    return seen.length < 5 ? Array.from({ length: 250 }, row) : [];
  };
  const database = { query } as unknown as Database;
  const { content } = exportSuppressions({ reads: database }, {
    caller: { workspaceId: 'ws', livemode: true },
  } as unknown as Call);
  const text = await new Response(content).text();
  isOver = true;
  expect(text.split('\r\n')).toHaveLength(1_002);
  expect(new Set(seen).size).toBe(5);
});

test('an import lets other requests in between its statements', async () => {
  const seen: number[] = [];
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const query = async () => {
    seen.push(turns);
    return [{ added: 1_000 }];
  };
  const body = new TextEncoder().encode(
    `address\n${Array.from({ length: 4_000 }, (_, n) => `a${n}@b.example\n`).join('')}`,
  );
  const signer = { hash: () => Buffer.alloc(32) } as unknown as Signer;
  const told = await importSuppressions({ database: { query } as unknown as Database, signer }, {
    caller: { workspaceId: 'ws', livemode: true },
    body,
    now: 0,
    claim: null,
  } as unknown as Call<unknown, unknown, Uint8Array>);
  isOver = true;
  expect(told).toMatchObject({ counts: { added: 4_000 } });
  expect(new Set(seen).size).toBe(4);
});
