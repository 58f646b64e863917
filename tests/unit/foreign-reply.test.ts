import { expect, test } from 'bun:test';
import type { Database } from '../../src/platform/db/database.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { emailSpawn, engineOver, plainInput } from '../support/engine.ts';

/** A driver that lost its place: every statement gets the reply to something else. */
const astray = (rows: readonly object[]): Database => ({
  kind: 'postgres',
  refusedWrite: null,
  worked: 0,
  query: async <Row extends object>() => [...rows] as Row[],
  script: async () => {},
  read: () => Promise.reject(new Error('Nothing is read here.')),
  session: () => null,
  ping: async () => 0,
  close: async () => {},
});

test.each([
  ['an empty reply', []],
  ['the rows of another statement', [{ id: 'em_1', state: 'sending' }]],
  ['the reply to another commit', [{ ord: -1, reply: '1' }]],
])('%s does not pass for an acceptance', async (_, rows) => {
  const engine = engineOver(astray(rows));
  const spawning = engine.spawn('email', emailSpawn(plainInput(0)));
  expect(await spawning.catch((error: unknown) => error)).toBeInstanceOf(UnavailableError);
  await engine.stop();
});
