import { expect, test } from 'bun:test';
import { readBucketAddress } from '../../src/platform/bodies/address.ts';
import {
  bodyKey,
  folderOf,
  generationClosed,
  readBodyKey,
  shelfOf,
} from '../../src/platform/bodies/body-key.ts';
import { BodyStore, type BodyStoreParts } from '../../src/platform/bodies/body-store.ts';
import type { Bucket } from '../../src/platform/bodies/bucket.ts';
import { readListing } from '../../src/platform/bodies/listing.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { eventually } from '../support/eventually.ts';

const HOUR = 3_600_000;
const OWNER = {
  kind: 'email' as const,
  livemode: true,
  day: '2026-11-24',
  workspaceId: `ws_${'0'.repeat(24)}`,
};
const BODY = new TextEncoder().encode('a body');

/** A bucket in memory that counts, and fails when the test says so. */
class Fake {
  readonly kept = new Map<string, Uint8Array>();
  puts = 0;
  readonly gets: string[] = [];
  fails = false;
  hangs = false;
  hold: Promise<void> | null = null;

  async put(key: string, body: Uint8Array, _hash: string, signal: AbortSignal): Promise<void> {
    this.puts++;
    if (this.hangs) await this.#end(signal);
    await this.hold;
    if (this.fails) throw new UnavailableError('away');
    this.kept.set(key, body);
  }

  async get(key: string, _most: number, signal: AbortSignal): Promise<Uint8Array | null> {
    this.gets.push(key);
    if (this.hangs) await this.#end(signal);
    if (this.fails) throw new UnavailableError('away');
    return this.kept.get(key) ?? null;
  }

  #end(signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new UnavailableError('late')));
    });
  }
}

function storeOf(limits = {}, expectedOwner?: BodyStoreParts['expectedOwner']) {
  const bucket = new Fake();
  const time = { now: Date.parse('2026-11-24T10:00:00Z'), monotonic: 0 };
  const store = new BodyStore(bucket as unknown as Bucket, {
    now: () => time.now,
    monotonic: () => time.monotonic,
    limits,
    expectedOwner,
  });
  return { bucket, time, store };
}

test('a key says all that its body has to be, and others are no keys', () => {
  const { workspaceId } = OWNER;
  const body = { workspaceId, generation: mintId('gen', 0), hash: 'a'.repeat(64), octets: 12 };
  const place = { ...body, shelf: shelfOf(OWNER) };
  for (const each of [place, { ...body, shelf: shelfOf({ kind: 'asset', workspaceId }) }]) {
    expect(readBodyKey(bodyKey(each))).toEqual(each);
    expect(folderOf(bodyKey(each))).toBe(`${each.shelf}/${workspaceId}/`);
  }
  for (const other of ['owner', 'doctor/1', bodyKey(place).replace('live/', ''), `${bodyKey(place)}.part`])
    expect(readBodyKey(other)).toBeNull();
});

test('the address of a bucket', () => {
  expect(readBucketAddress('s3://mail')).toEqual({ bucket: 'mail', prefix: '' });
  expect(readBucketAddress('s3://mail/a/b-1.x/')).toEqual({ bucket: 'mail', prefix: 'a/b-1.x/' });
  for (const wrong of [
    's3://',
    's3://a',
    's3://Mail',
    's3://my.mail',
    's3://mail/../x',
    's3://mail/a//b',
    'https://mail',
  ])
    expect([wrong, readBucketAddress(wrong)]).toEqual([wrong, null]);
});

test('a listing is read with its entities, and a torn one is none', () => {
  const page = `<?xml version="1.0"?><ListBucketResult xmlns="x"><Prefix>p</Prefix>
    <Contents><Key>a&amp;b</Key><Owner><ID>1</ID></Owner></Contents><Contents><Key>c</Key></Contents>
    <CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes>
    <NextContinuationToken>n==</NextContinuationToken></ListBucketResult>`;
  expect(readListing(page)).toEqual({ keys: ['a&b', 'c'], prefixes: ['d/'], next: 'n==' });
  expect(readListing(page.slice(0, -10))).toBeNull();
  expect(readListing('<Error><Code>NoSuchBucket</Code></Error>')).toBeNull();
});

test('a body is written once within an hour, and afterwards under another key', async () => {
  const { store, bucket, time } = storeOf();
  const [first, second] = await Promise.all([store.write(OWNER, BODY), store.write(OWNER, BODY)]);
  time.now += HOUR - 1;
  const third = await store.write(OWNER, BODY);
  expect([bucket.puts, second.key, third.key]).toEqual([1, first.key, first.key]);
  time.now += 1;
  const fourth = await store.write(OWNER, BODY);
  // A removal of the first that is still under way cannot take the body of the request that got the fourth.
  expect([bucket.puts, fourth.key === first.key]).toEqual([2, false]);
  expect(generationClosed(readBodyKey(first.key)?.generation ?? '')).toBe(first.until);
  expect(first.until).toBeGreaterThan(time.now);
});

test('each workspace, day and environment has separate bodies', async () => {
  const { store, bucket } = storeOf();
  for (const other of [
    {},
    { livemode: false },
    { day: '2026-11-25' },
    { workspaceId: `ws_${'1'.repeat(24)}` },
  ])
    await store.write({ ...OWNER, ...other }, BODY);
  expect([bucket.puts, bucket.kept.size]).toEqual([4, 4]);
});

test('images lie apart from mail, and those of a workspace together', async () => {
  const { store, bucket } = storeOf();
  const image = { kind: 'asset', workspaceId: OWNER.workspaceId } as const;
  const { key } = await store.write(image, BODY);
  expect(key).toStartWith(`kept/${OWNER.workspaceId}/gen_`);
  // An image is written at each upload, and no other body is at that place.
  expect([(await store.write(image, BODY)).key === key, bucket.puts]).toEqual([false, 2]);
  // The same octets as a received message and as an email are one body.
  const [sent, received] = [
    await store.write(OWNER, BODY),
    await store.write({ ...OWNER, kind: 'received' }, BODY),
  ];
  expect([sent.key, sent.key === key]).toEqual([received.key, false]);
});

test('what was not written is written again under another key: the server may still have it torn', async () => {
  const { store, bucket } = storeOf();
  const before = await store.write(OWNER, BODY);
  bucket.fails = true;
  const other = new TextEncoder().encode('another');
  await expect(store.write(OWNER, other)).rejects.toThrow(UnavailableError);
  bucket.fails = false;
  const again = await store.write(OWNER, other);
  expect(readBodyKey(again.key)?.generation).not.toBe(readBodyKey(before.key)?.generation);
});

test('a body that is missing, torn, longer or changed is lost, and says so', async () => {
  const { store, bucket } = storeOf();
  const { key } = await store.write(OWNER, BODY);
  expect(await store.read(key)).toEqual(BODY);
  for (const wrong of [
    BODY.slice(1),
    new TextEncoder().encode('a bodyy'),
    new TextEncoder().encode('A body'),
  ]) {
    bucket.kept.set(key, wrong);
    await expect(store.read(key)).rejects.toThrow('is damaged');
  }
  bucket.kept.delete(key);
  await expect(store.read(key)).rejects.toThrow('is missing');
});

test('after a loss every body is written again, whatever was written lately', async () => {
  const { store, bucket } = storeOf();
  const other = new TextEncoder().encode('another');
  const [lost, untouched] = [await store.write(OWNER, BODY), await store.write(OWNER, other)];
  bucket.kept.clear();
  await expect(store.read(lost.key)).rejects.toThrow('is missing');
  const again = await store.write(OWNER, other);
  expect(again.key).not.toBe(untouched.key);
  expect(await store.read(again.key)).toEqual(other);
  bucket.kept.set(again.key, BODY);
  await expect(store.read(again.key)).rejects.toThrow('is damaged');
  expect((await store.write(OWNER, other)).key).not.toBe(again.key);
});

test('the loss of mail that another process wrote has bodies written again, once a minute at most; that of an image never', async () => {
  const { store, time } = storeOf();
  const other = storeOf().store;
  const { key: image } = await other.write({ kind: 'asset', workspaceId: OWNER.workspaceId }, BODY);
  const { key: mail } = await other.write(OWNER, BODY);
  const first = await store.write(OWNER, BODY);
  const after = async (ms: number, lost = mail) => {
    time.now += ms;
    await expect(store.read(lost)).rejects.toThrow('is missing');
    return (await store.write(OWNER, BODY)).key;
  };
  expect(await after(59_999)).toBe(first.key);
  expect(await after(1, image)).toBe(first.key);
  const second = await after(0);
  expect([second === first.key, (await after(59_999)) === second]).toEqual([false, true]);
});

test('a store that is away three times is left alone, then tried by one', async () => {
  const { store, bucket, time } = storeOf();
  const { key } = await store.write(OWNER, BODY);
  bucket.fails = true;
  for (let time = 0; time < 3; time++) await expect(store.read(key)).rejects.toThrow('away');
  bucket.fails = false;
  const refused = await store.read(key).catch((error: unknown) => error);
  expect([refused instanceof UnavailableError, (refused as UnavailableError).retryAfterSeconds]).toEqual([
    true,
    5,
  ]);
  await expect(store.write(OWNER, new Uint8Array(9))).rejects.toThrow('tried again soon');
  time.monotonic += 5_000;
  expect(store.state).toBe('rested');
  expect(await store.read(key)).toEqual(BODY);
  expect(store.state).toBe('closed');
});

test('only so many bodies wait to be written; one more is refused at once', async () => {
  const { store, bucket } = storeOf({ octets: 1, waiting: 1, writeMs: 60_000 });
  const gate = Promise.withResolvers<void>();
  bucket.hold = gate.promise;
  const body = (seed: number) => new Uint8Array([seed]);
  const [first, second] = [store.write(OWNER, body(1)), store.write(OWNER, body(2))];
  await expect(store.write(OWNER, body(3))).rejects.toThrow('overloaded');
  gate.resolve();
  await Promise.all([first, second]);
  expect(bucket.puts).toBe(2);
});

test('an answer that does not come ends at the deadline, the wait for a turn included', async () => {
  const { store, bucket } = storeOf({ octets: 1, writeMs: 5 });
  bucket.hold = new Promise(() => {});
  void store.write(OWNER, new Uint8Array([1])).catch(() => {});
  await expect(store.write(OWNER, new Uint8Array([2]))).rejects.toThrow(UnavailableError);
});

test('a store that answers nothing is left alone after three deadlines at most, however many ask at once', async () => {
  const { store, bucket } = storeOf({ writeMs: 5 });
  bucket.hangs = true;
  // Emails with one body ask once, and that is one failure.
  for (let round = 1; round <= 3; round++) {
    await Promise.allSettled(Array.from({ length: 6 }, () => store.write(OWNER, BODY)));
    expect(bucket.puts).toBe(round);
  }
  await eventually('it rests', () => (store.state === 'open' ? true : undefined));
  await expect(store.write(OWNER, BODY)).rejects.toThrow('tried again soon');

  const other = storeOf({ writeMs: 5 });
  other.bucket.hangs = true;
  // Emails with separate bodies ask for each of them: the first deadline is the last one.
  await Promise.allSettled(
    [1, 2, 3, 4, 5, 6].map((seed) => other.store.write(OWNER, new Uint8Array([seed]))),
  );
  await eventually('it rests', () => (other.store.state === 'open' ? true : undefined));
  expect(other.bucket.puts).toBe(6);
});

type Body = Uint8Array<ArrayBuffer>;
const separate = (count: number) => Array.from({ length: count }, (_, seed) => new Uint8Array([seed]));

test('a question about the owner that has no answer ends in time, takes no turn, and says nothing about the bucket', async () => {
  let questions = 0;
  const { store, bucket } = storeOf({ octets: 1, waiting: 1, writeMs: 20 }, () => {
    questions++;
    return new Promise(() => {});
  });
  for (let round = 1; round <= 4; round++) {
    const all = await Promise.allSettled(separate(6).map((body) => store.write(OWNER, body)));
    for (const each of all)
      expect(String((each as PromiseRejectedResult).reason)).toContain('did not say in time which database');
    expect([questions, store.state]).toEqual([round, 'closed']);
  }
  expect(bucket.puts).toBe(0);
});

test('a bucket that hangs when its owner is asked for is left alone after three deadlines', async () => {
  const { store, bucket } = storeOf({ writeMs: 20 }, async () => 'own_1');
  bucket.hangs = true;
  for (let round = 1; round <= 3; round++)
    await expect(store.write(OWNER, BODY)).rejects.toThrow(UnavailableError);
  await expect(store.write(OWNER, BODY)).rejects.toThrow('tried again soon');
  expect([bucket.gets.length, store.state]).toEqual([3, 'open']);
});

test('a bucket of another database is no bucket that is away', async () => {
  const { store, bucket } = storeOf({}, async () => 'own_1');
  for (const body of separate(5)) {
    const refused = await store.write(OWNER, body).catch((error: unknown) => error);
    expect(String(refused)).toContain('BODY_STORE is another bucket');
    expect((refused as UnavailableError).retryAfterSeconds).toBe(60);
  }
  expect([store.state, bucket.puts]).toEqual(['closed', 0]);
});

test('a bucket of another database is looked at again after thirty seconds', async () => {
  const { key } = await storeOf().store.write(OWNER, BODY);
  let questions = 0;
  const { store, bucket, time } = storeOf({}, async () => {
    questions++;
    return 'own_1';
  });
  const reads = async () => {
    for (let at = 0; at < 10; at++) await expect(store.read(key)).rejects.toThrow('is another bucket');
    return [questions, bucket.gets.filter((each) => each === 'owner').length];
  };
  expect(await reads()).toEqual([1, 1]);
  time.monotonic += 29_999;
  expect(await reads()).toEqual([1, 1]);
  time.monotonic += 1;
  expect(await reads()).toEqual([2, 2]);
  bucket.kept.set('owner', new TextEncoder().encode('own_1\n'));
  time.monotonic += 30_000;
  await expect(store.read(key)).rejects.toThrow('is missing');
});

test('the right bucket is looked at again after ten minutes, and stays so where nothing answers', async () => {
  let expected: () => Promise<string | null> = async () => null;
  const { store, bucket, time } = storeOf({}, () => expected());
  const [first, second, third, fourth] = separate(4) as [Body, Body, Body, Body];
  await store.write(OWNER, first);
  expected = async () => 'own_1';
  time.monotonic += 599_999;
  await store.write(OWNER, second);
  time.monotonic += 1;
  expected = async () => {
    throw new UnavailableError('away');
  };
  await store.write(OWNER, third);
  expected = async () => 'own_1';
  await expect(store.write(OWNER, fourth)).rejects.toThrow('is another bucket');
  expect(bucket.puts).toBe(3);
});
