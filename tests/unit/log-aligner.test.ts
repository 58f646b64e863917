import { expect, test } from 'bun:test';
import { logAligner } from '../../src/sending/events/commands.ts';

/** A server whose answers the test sets, and that records what was done to it. */
function server() {
  const state = { base: 0n, next: 0n, alignedWith: '7/00000001', cluster: '7/00000001' };
  const scripts: string[] = [];
  const database = {
    query: async (text: string) =>
      text.includes('pg_control_system')
        ? [{ cluster: state.cluster }]
        : [{ cluster: state.alignedWith, base: String(state.base), next: String(state.next) }],
    script: async (text: string) => void scripts.push(text),
  };
  const warnings: string[] = [];
  const duty = logAligner({
    database: database as never,
    logger: { warn: (text: string) => void warnings.push(text) } as never,
  });
  const at = async (next: bigint, cluster = state.cluster) => {
    Object.assign(state, { next, cluster });
    await duty.run();
    return [scripts.length, warnings.length];
  };
  return { at, scripts };
}

test('the event log stays where it is while numbers rise, and after a crash that forgot the last few', async () => {
  const { at } = server();
  expect(await at(5_000n)).toEqual([0, 0]);
  expect(await at(9_000n)).toEqual([0, 0]);
  expect(await at(8_100n)).toEqual([0, 0]);
});

test('the event log moves along when the numbers go back by more, or another server counts', async () => {
  const back = server();
  await back.at(9_000n);
  expect(await back.at(7_999n)).toEqual([1, 1]);
  expect(back.scripts[0]).toContain('greatest(base, 9000)');
  expect(await server().at(5_000n, '7/00000002')).toEqual([1, 1]);
});
