import { describe, expect, test } from 'bun:test';
import { MOST_SERVERS, serverUrls } from '../../src/platform/db/server/server-urls.ts';
import { type ServerSeen, Servers } from '../../src/platform/db/server/servers.ts';

const ONE = 'postgres://u:p%40ss@one:5432/posthorn';
const TWO = 'postgres://u:p%40ss@two/posthorn';
const BOTH = 'postgres://u:p%40ss@one:5432,two/posthorn';
const many = (count: number) =>
  `postgres://u@${Array.from({ length: count }, (_, index) => `h${index}`).join()}/x`;

describe('the servers of DATABASE_URL', () => {
  test.each([
    [ONE, [ONE]],
    [BOTH, [ONE, TWO]],
    [`${BOTH}?target_session_attrs=primary`, [ONE, TWO]],
    [
      `${BOTH}?target_session_attrs=read-write&sslmode=require`,
      [`${ONE}?sslmode=require`, `${TWO}?sslmode=require`],
    ],
    ['postgresql://[::1]:5433,127.0.0.1/x', ['postgresql://[::1]:5433/x', 'postgresql://127.0.0.1/x']],
    ['postgres://u:p@s,s@one,two/x', ['postgres://u:p@s,s@one/x', 'postgres://u:p@s,s@two/x']],
    [`${BOTH}?target_session_attrs=standby`, null],
    ['postgres://u@one,,two/x', null],
    ['postgres:///x', null],
    ['https://one/x', null],
    // A password that was pasted as it is: `#` and `/` end the account, and its rest would pass for server
    // and name.
    ['postgres://u:p@ss#word@one/x', null],
    ['postgres://u:12/ab@one/x', null],
    ['postgres://u:12?ab@one/x', null],
    ['postgres://one/x?user=a@b', ['postgres://one/x?user=a@b']],
    ['postgres://u:50%off@one/x', null],
    ['postgres://u@one/%zz', null],
    // The two forms in which libpq takes the folder of a Unix socket.
    [
      'postgres://u:p@/x?host=/run/pg&port=5433',
      ['postgres://u:p@%2Frun%2Fpg:5433/x?host=/run/pg&port=5433'],
    ],
    ['postgres:///x?user=u&host=%2Frun%2Fpg', ['postgres://%2Frun%2Fpg/x?user=u&host=%2Frun%2Fpg']],
    ['postgres://u@%2Frun%2Fpg:5433/x', ['postgres://u@%2Frun%2Fpg:5433/x']],
    ['postgres://u@/x?host=one', null],
  ])('%s', (url, urls) => {
    expect(serverUrls(url)).toEqual(urls);
  });

  test(`are at most ${MOST_SERVERS}`, () => {
    expect(serverUrls(many(MOST_SERVERS))).toHaveLength(MOST_SERVERS);
    expect(serverUrls(many(MOST_SERVERS + 1))).toBeNull();
  });
});

const primary = (timeline: string): ServerSeen => ({ seen: 'answering', atWork: [], timeline });
const STANDBY: ServerSeen = { seen: 'answering', atWork: [], timeline: null };
const REFUSING: ServerSeen = { seen: 'refusing' };
const SILENT: ServerSeen = { seen: 'silent' };
const FULL: ServerSeen = { seen: 'full' };

describe('a look at two servers, of which the first is in use', () => {
  test.each([
    ['the first takes writes', primary('01'), STANDBY, 'answering', ONE],
    ['the first takes writes, the other is gone', primary('01'), SILENT, 'answering', ONE],
    ['the second was promoted', REFUSING, primary('02'), 'elsewhere', TWO],
    ['both take writes, the second of a later timeline', primary('01'), primary('02'), 'elsewhere', TWO],
    ['both take writes, the first of a later timeline', primary('03'), primary('02'), 'answering', ONE],
    ['both take writes of one timeline', primary('02'), primary('02'), 'answering', ONE],
    ['both are standbys', STANDBY, STANDBY, 'leaderless', ONE],
    ['the first is gone, the second not promoted yet', REFUSING, STANDBY, 'leaderless', ONE],
    ['the first is only slow', SILENT, STANDBY, 'silent', ONE],
    ['the first is only full', FULL, STANDBY, 'full', ONE],
  ])('%s', async (_, first, second, seen, url) => {
    const servers = new Servers(BOTH, async (each) => (each === ONE ? first : second));
    expect((await servers.look()).seen).toBe(seen as ServerSeen['seen']);
    expect(servers.url).toBe(url);
  });

  test.each([
    ['full', FULL, 'full'],
    ['silent', SILENT, 'silent'],
    ['gone', REFUSING, 'leaderless'],
  ] as const)(
    'a leader of an earlier timeline takes no writes while the later one is %s',
    async (_, later, seen) => {
      let first: ServerSeen = primary('02');
      const servers = new Servers(BOTH, async (each) => (each === ONE ? first : primary('01')));
      await servers.look();
      first = later;
      expect([(await servers.look()).seen, servers.url]).toEqual([seen, ONE]);
    },
  );

  test('a leader of an earlier timeline is reported, until one of the later is there again', async () => {
    const seen = new Map([
      [ONE, primary('0000000A')],
      [TWO, STANDBY],
    ]);
    const servers = new Servers(BOTH, async (each) => seen.get(each) as ServerSeen);
    await servers.look();
    expect(servers.setBack).toBeNull();
    seen.set(ONE, STANDBY).set(TWO, primary('00000009'));
    expect([(await servers.look()).seen, servers.url]).toEqual(['leaderless', ONE]);
    expect(servers.setBack).toStartWith(
      'two:5432 takes writes on timeline 9, though timeline 10 was seen: commits acknowledged on that one are missing.',
    );
    seen.set(TWO, primary('0000000B'));
    expect([(await servers.look()).seen, servers.setBack]).toEqual(['elsewhere', null]);
  });

  test('a start that finds none says of each what it is', async () => {
    const servers = new Servers(BOTH, async (each) => (each === ONE ? SILENT : STANDBY));
    expect(servers.find(0)).rejects.toThrow(
      'None of the servers of DATABASE_URL takes writes: one:5432 does not answer, two:5432 is a standby. Promote one, or name the primary.',
    );
  });
});
