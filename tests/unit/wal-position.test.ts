import { expect, test } from 'bun:test';
import type { Database } from '../../src/platform/db/database.ts';
import { LeaderPosition } from '../../src/platform/db/replica/wal-position.ts';

/** A leader that tells this, and the statements that it was asked. */
function leaderThatTells(commits: string) {
  const asked: string[] = [];
  const query = async (text: string) => {
    asked.push(text);
    return text.includes('pg_control_system')
      ? [{ system: '7' }]
      : [{ file: '0000001F000000160000000B', flushed: '16/B3', written: '16/B7', commits }];
  };
  return { asked, leader: { query } as unknown as Pick<Database, 'query'> };
}

test('the position is that of what is flushed, with the timeline of its segment', async () => {
  const { leader } = leaderThatTells('on');
  expect(await new LeaderPosition(leader).read()).toEqual({ system: '7', timeline: 31, lsn: '16/B3' });
});

test('where commits return before they are flushed, the position is that of what is written', async () => {
  const { leader } = leaderThatTells('off');
  expect((await new LeaderPosition(leader).read()).lsn).toBe('16/B7');
});

test('which cluster it is, is asked once a second', async () => {
  const { asked, leader } = leaderThatTells('on');
  let now = 0;
  const position = new LeaderPosition(leader, () => now);
  const clusters = () => asked.filter((text) => text.includes('pg_control_system')).length;
  await position.read();
  now = 999;
  await position.read();
  expect(clusters()).toBe(1);
  now = 1_000;
  await position.read();
  expect(clusters()).toBe(2);
});
