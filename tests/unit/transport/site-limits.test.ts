import { expect, test } from 'bun:test';
import { HOLDS, isDue } from '../../../src/mail/transport/limits/learned.ts';
import { LimitBook } from '../../../src/mail/transport/limits/limit-book.ts';
import { SiteLimits } from '../../../src/mail/transport/limits/site-limits.ts';
import type { Part } from '../../../src/mail/transport/part.ts';

let at = 1_000_000;
const clocks = { now: () => at, monotonic: () => at };
const part = (of: number, rank: number): Part => ({ of, rank, isKnown: true });

test('processes that are refused with what each has open agree on the limit of the server', () => {
  for (let limit = 1; limit <= 12; limit++)
    for (let of = 1; of <= Math.min(limit, 4); of++) {
      const sites = Array.from({ length: of }, (_, rank) => {
        const site = new SiteLimits(clocks);
        site.keepTo(part(of, rank));
        return site;
      });
      const open = sites.map((site) => Math.min(site.connectionsOf(20), 20));
      // The server has given out its connections one by one; each process that is refused says what it has,
      // and the others take that over.
      const given = open.map((_, rank) => Math.ceil((limit - rank) / of));
      for (const [rank, site] of sites.entries()) {
        at += 1;
        site.refusedConnection(given[rank] ?? 0);
        for (const other of sites) other.adopt(site.record);
      }
      expect(sites.map((site) => site.connectionsOf(20)).reduce((sum, one) => sum + one, 0)).toBe(limit);
    }
});

test('each vain trial doubles the time until the next, up to an hour, and one that succeeds starts over', () => {
  const site = new SiteLimits(clocks);
  site.refusedConnection(5);
  const { firstMs, longestMs } = HOLDS.connections;
  let holdMs = firstMs;
  for (let each = 0; each < 14; each++) {
    expect(site.known.connections).toMatchObject({ value: 5, holdMs });
    at += holdMs - 1;
    expect(site.connectionsOf(20)).toBe(5);
    at += 1;
    expect(site.connectionsOf(20)).toBe(6);
    site.refusedConnection(5);
    holdMs = Math.min(2 * holdMs, longestMs);
  }
  expect(holdMs).toBe(longestMs);
  at += longestMs;
  site.connected(6, 20);
  expect(site.known.connections).toMatchObject({ value: 6, holdMs: firstMs });
});

test('of connections that are refused at the same moment one is news', () => {
  let changes = 0;
  const site = new SiteLimits(clocks, () => changes++);
  for (let each = 0; each < 15; each++) site.refusedConnection(5);
  expect([changes, site.known.connections?.value]).toEqual([1, 5]);
  site.refusedConnection(3);
  expect([changes, site.known.connections?.value]).toEqual([2, 3]);
});

test('what is not due is kept to; then more is tried', () => {
  const site = new SiteLimits(clocks);
  site.sessionSpent(9);
  site.refusedRecipient(10);
  expect([site.mailsPerSession(100), site.recipientsPerMail]).toEqual([9, 10]);
  at += HOLDS.mailsPerSession.firstMs;
  expect([site.mailsPerSession(100), site.recipientsPerMail]).toEqual([100, null]);
  const known = site.known.mailsPerSession;
  expect(known && isDue(known, at)).toBe(true);
  site.carriedAfter(9);
  site.tookRecipients(11);
  expect(site.known).toEqual({});
});

test('what another process has found out later counts, also that a limit is over; what it does not know says nothing', () => {
  const site = new SiteLimits(clocks);
  site.sessionSpent(9);
  site.adopt({ mailsPerSession: { value: 50, at: at - 5, holdMs: 1 } });
  expect(site.known.mailsPerSession?.value).toBe(9);
  site.adopt({ connections: { value: 4, at: at + 5, holdMs: 60_000 } });
  expect(site.known).toMatchObject({ connections: { value: 4 }, mailsPerSession: { value: 9 } });
  site.adopt({ mailsPerSession: { value: null, at: at + 5 } });
  expect(Object.keys(site.known)).toEqual(['connections']);
  // The clock here is behind that of the other process.
  site.sessionSpent(3);
  expect(site.known.mailsPerSession).toMatchObject({ value: 3, at: at + 6 });
});

test('the book tells each change once, and forgets servers without a limit when there are too many', () => {
  const book = new LimitBook(clocks);
  book.of({ transport: 'direct', server: 'mx.test' }).sessionSpent(5);
  book.of({ transport: 'direct', server: 'size.test' }).announcedSize(1_000);
  book.of({ transport: 'smtp', server: 'relay.test:25' }).announcedSize(1_000);
  const changed = book.takeChanged();
  expect(changed?.entries.map(({ server, limits }) => [server, Object.keys(limits)])).toEqual([
    ['mx.test', ['mailsPerSession']],
    ['relay.test:25', ['octetsPerMail']],
  ]);
  expect(book.takeChanged()).toBeNull();
  changed?.failed();
  expect(book.takeChanged()?.entries).toEqual(changed?.entries as never);
  for (let each = 0; each < 5_000; each++) book.of({ transport: 'direct', server: `mx${each}.test` });
  expect(book.entries.map(({ server }) => server)).toEqual(['mx.test', 'relay.test:25']);
});

test('what is learned through limits that the book had forgotten is stored, and is known to all who ask for them', () => {
  const server = { transport: 'direct', server: 'kept.test' } as const;
  const crowd = (book: LimitBook) => {
    for (let each = 0; each < 5_000; each++) book.of({ transport: 'direct', server: `mx${each}.test` });
  };
  for (const isAskedForAgain of [false, true]) {
    const book = new LimitBook(clocks);
    const held = book.of(server);
    crowd(book);
    if (isAskedForAgain) expect(book.of(server)).not.toBe(held);
    held.sessionSpent(7);
    // Before it is stored the book is full once more.
    crowd(book);
    const changed = book.takeChanged();
    expect(changed?.entries).toMatchObject([{ ...server, limits: { mailsPerSession: { value: 7 } } }]);
    expect(book.of(server).mailsPerSession(100)).toBe(7);
    // It ends through the same object, is forgotten, and could not be stored.
    at += 3_600_000;
    held.carriedAfter(7);
    const ended = book.takeChanged();
    crowd(book);
    book.of(server).refusedConnection(3);
    ended?.failed();
    expect(book.takeChanged()?.entries).toMatchObject([
      { ...server, limits: { mailsPerSession: { value: null }, connections: { value: 3 } } },
    ]);
  }
});
