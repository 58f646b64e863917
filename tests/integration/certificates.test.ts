import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { CertificateKeeper } from '../../src/http/certificates/keeper.ts';
import { putOffMs } from '../../src/http/certificates/renewal.ts';
import { CertificateStore } from '../../src/http/certificates/store.ts';
import { diagnoseCertificate } from '../../src/ops/doctor/certificate.ts';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { DAY_MS } from '../../src/platform/time/clock.ts';
import { type AcmeAuthority, startAcmeAuthority } from '../support/acme-authority.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

const MINUTE_MS = 60_000;
const logger = createLogger({ level: 'silent', pretty: false });
const sealer = createSealer('the-key-of-these-tests-the-key-of-these');

let made: TestDatabase;
let database: Database;
let authority: AcmeAuthority;
let port: Bun.Server<undefined>;
/** The server that the authority's requests reach. */
let asked: CertificateKeeper | null;
// Certificates tell times in whole seconds.
let now = Math.floor(Date.now() / 1_000) * 1_000;
let host = '';
let hosts = 0;

beforeAll(async () => {
  made = await createTestDatabase();
  database = await openDatabase({ url: made.url, dataDir: null });
  port = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async ({ url }) => new Response((await asked?.answerTo(url.split('/').at(-1) ?? '')) ?? 'nobody'),
  });
  authority = await startAcmeAuthority({
    validateAt: () => port.port ?? 0,
    dates: () => ({ notBefore: new Date(now), notAfter: new Date(now + 90 * DAY_MS) }),
  });
});

afterAll(async () => {
  await authority[Symbol.asyncDispose]();
  await port.stop(true);
  await database.close();
  await made.close();
});

beforeEach(() => {
  authority.faults = {};
  hosts += 1;
  host = `mail${hosts}.example.com`;
});

const storeOf = (instance: string): CertificateStore =>
  new CertificateStore(database, { directoryUrl: authority.directoryUrl, host }, instance);

let instances = 0;

/** One instance of the service, which answers challenges. */
function instance(): CertificateKeeper {
  instances += 1;
  const keeper = new CertificateKeeper({
    store: storeOf(`instance ${instances}`),
    sealer,
    logger,
    clock: { now: () => now },
    order: { directoryUrl: authority.directoryUrl, host, email: 'ops@example.com', ca: authority.root },
    waits: { pollMs: 1, settleMs: 0 },
  });
  keeper.reachable();
  asked = keeper;
  return keeper;
}

const diagnosis = () =>
  diagnoseCertificate(
    database,
    { publicUrl: `https://${host}`, acmeDirectoryUrl: authority.directoryUrl },
    now,
  );

/** The requests to the authority during the work. */
async function asking(what: string, work: () => Promise<unknown>): Promise<number> {
  const before = authority.asked(what);
  await work();
  return authority.asked(what) - before;
}

describe('the first certificate', () => {
  test('is ordered by HTTP-01, stored with sealed keys, and not ordered again', async () => {
    const keeper = instance();
    expect((await diagnosis()).status).toBe('wrong');
    expect(await asking('new-order', () => keeper.look())).toBe(1);
    const leaf = new X509Certificate(keeper.current?.certificate ?? '');
    expect(leaf.checkHost(host)).toBe(host);
    const row = JSON.stringify(
      await database.query('select * from acme_certificates where host = $1', [host]),
    );
    expect(row).toContain('BEGIN CERTIFICATE');
    expect(row).not.toContain('PRIVATE KEY');
    expect(await asking('new-order', () => keeper.look())).toBe(0);
    expect(await diagnosis()).toMatchObject({
      status: 'fine',
      detail: `The one for ${host} is valid for 90 days.`,
    });
  });

  test('is not ordered before challenges can be answered', async () => {
    const keeper = new CertificateKeeper({
      store: storeOf('deaf'),
      sealer,
      logger,
      clock: { now: () => now },
      order: { directoryUrl: authority.directoryUrl, host, email: null, ca: authority.root },
    });
    expect(await asking('directory', () => keeper.look())).toBe(0);
    expect(keeper.current).toBeNull();
  });

  test('is ordered by one of two instances; the other one answers the challenge, and takes what is there', async () => {
    const [one, other] = [instance(), instance()];
    expect(await asking('new-order', () => Promise.all([one.look(), other.look()]))).toBe(1);
    await Promise.all([one.look(), other.look()]);
    expect(one.current).not.toBeNull();
    expect(other.current).toEqual(one.current);
  });
});

describe('a renewal', () => {
  test('comes with a third of the lifetime left, under the same account, and reaches the server that uses it', async () => {
    const keeper = instance();
    await keeper.look();
    const first = keeper.current?.certificate ?? '';
    const told: string[] = [];
    keeper.follow(({ certificate }) => told.push(certificate));
    now += 60 * DAY_MS - MINUTE_MS;
    expect(await asking('new-order', () => keeper.look())).toBe(0);
    now += MINUTE_MS;
    expect(await asking('new-account', () => keeper.look())).toBe(0);
    const second = keeper.current?.certificate ?? '';
    expect(second).not.toBe(first);
    expect(told).toEqual([first, second]);
  });

  test('that fails leaves the old certificate, and is tried again after waits that grow to a day', async () => {
    const keeper = instance();
    await keeper.look();
    const first = keeper.current;
    now += 61 * DAY_MS;
    authority.faults = { refuse: { what: 'new-order', status: 500 } };
    expect(await asking('new-order', () => keeper.look())).toBe(1);
    expect(keeper.current).toBe(first);
    expect(keeper.failures).toBe(1);
    // No instance asks before the wait is over, neither this one nor one that starts later.
    now += 5 * MINUTE_MS - 1;
    expect(await asking('directory', () => keeper.look())).toBe(0);
    expect(await asking('directory', () => instance().look())).toBe(0);
    now += 1;
    expect(await asking('new-order', () => keeper.look())).toBe(1);
    expect((await storeOf('reader').read())?.nextTryAt).toEqual(new Date(now + 20 * MINUTE_MS));
    expect(await diagnosis()).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('Not now'),
    });
    authority.faults = {};
    now += 20 * MINUTE_MS;
    await keeper.look();
    expect(keeper.current).not.toBe(first);
    expect(keeper.failures).toBe(0);
  });

  test('waits as long as the authority asks for, and its own waits end at a day', async () => {
    const keeper = instance();
    authority.faults = { refuse: { what: 'new-order', status: 429, retryAfter: '7200' } };
    expect(await asking('new-order', () => keeper.look())).toBe(1);
    const next = Number((await storeOf('reader').read())?.nextTryAt);
    expect(Math.round((next - now) / MINUTE_MS)).toBe(120);
    expect([1, 2, 3, 4, 5, 50].map((failures) => putOffMs(failures) / MINUTE_MS)).toEqual([
      5, 20, 80, 320, 1_280, 1_440,
    ]);
  });
});

describe('an order', () => {
  test('is tried again once a clock that was years ahead is right, after a failure or a death', async () => {
    authority.faults = { refuse: { what: 'new-order', status: 500 } };
    const before = now;
    now += 1_700 * DAY_MS;
    await instance().look();
    const dead = storeOf('dead');
    await dead.lease(now + DAY_MS, now + 2 * DAY_MS, now + 8 * DAY_MS);
    now = before;
    authority.faults = {};
    const keeper = instance();
    expect(await asking('new-order', () => keeper.look())).toBe(1);
    expect(keeper.failures).toBe(0);
  });

  test('whose challenge is answered wrongly fails in words, and the next try makes another', async () => {
    const keeper = instance();
    asked = null;
    await keeper.look();
    expect(keeper.current).toBeNull();
    expect((await storeOf('reader').read())?.lastError).toBe(
      `The authority could not validate ${host}: Wrong answer.`,
    );
    asked = keeper;
    now += 5 * MINUTE_MS;
    expect(await asking('new-order', () => keeper.look())).toBe(1);
    expect(keeper.current).not.toBeNull();
  });

  test('whose authority answers in controls is stored as failed in one line of at most 500 characters', async () => {
    const keeper = instance();
    const error = { detail: `a\0b\n${'c'.repeat(600)}` };
    authority.faults = {
      around: (what, answer) =>
        what === 'finalize' ? Response.json({ status: 'lost\n\u001b[31m\0', error }) : answer(),
    };
    await keeper.look();
    expect((await storeOf('reader').read())?.lastError).toBe(
      `The order became lost [31m : a b ${'c'.repeat(246)}.`,
    );
    authority.faults.around = (what, answer) =>
      what === 'directory' ? Response.json({ newNonce: `http:\n${'d'.repeat(600)}` }) : answer();
    now += 5 * MINUTE_MS;
    await keeper.look();
    const start = 'The certificate authority names an address that is not https: http: ';
    expect((await storeOf('reader').read())?.lastError).toBe(start + 'd'.repeat(500 - start.length));
  });

  test('of an instance that died before it stored the certificate is finished by another, and nothing is ordered twice', async () => {
    const dead = instance();
    const download = Promise.withResolvers<void>();
    authority.faults = { holdDownload: download.promise };
    const before = authority.asked('certificate');
    const looking = dead.look();
    await eventually('the download', () => (authority.asked('certificate') > before ? true : undefined));
    const other = instance();
    await other.look();
    expect(other.current).toBeNull();
    now += 5 * MINUTE_MS;
    authority.faults = {};
    const again = ['new-order', 'finalize'].map((what) => authority.asked(what));
    await other.look();
    expect(['new-order', 'finalize'].map((what) => authority.asked(what))).toEqual(again);
    expect(other.current).not.toBeNull();
    // The first one was only slow: what it brings now is not stored.
    const stored = await storeOf('reader').read();
    download.resolve();
    await looking;
    expect(await storeOf('reader').read()).toEqual(stored);
    await dead.look();
    expect(dead.current).toEqual(other.current);
  });

  test('whose keys were sealed with a lost key is ordered again', async () => {
    await instance().look();
    const keeper = new CertificateKeeper({
      store: storeOf('anew'),
      logger,
      clock: { now: () => now },
      sealer: createSealer('another-key-another-key-another-key-an'),
      order: { directoryUrl: authority.directoryUrl, host, email: null, ca: authority.root },
      waits: { pollMs: 1, settleMs: 0 },
    });
    keeper.reachable();
    asked = keeper;
    expect(await asking('new-account', () => keeper.look())).toBe(1);
    expect(keeper.current).not.toBeNull();
  });
});
