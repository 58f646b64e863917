import { expect, test } from 'bun:test';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { inThisThread } from '../../src/mail/dkim/sign.ts';
import type { SigningKey } from '../../src/mail/dkim/signing-key.ts';
import type { SignedJobs, SigningJob } from '../../src/mail/dkim/signing-thread.ts';
import { signingThreads } from '../../src/mail/dkim/signing-threads.ts';
import type { Logger } from '../../src/platform/telemetry/logger.ts';
import type { Reply } from '../../src/platform/threads/serve.ts';
import type { Thread } from '../../src/platform/threads/thread.ts';
import { startThread, WorkerPool } from '../../src/platform/threads/worker-pool.ts';
import { eventually } from '../support/eventually.ts';

const key: SigningKey = {
  domain: 'sender.example',
  selector: 's',
  algorithm: 'rsa-sha256',
  privateKey: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey,
};
const data = Buffer.from('from:a@sender.example\r\n');
const expected = inThisThread(key, data) as Buffer;

type Answering = (jobs: readonly SigningJob[]) => Reply<SignedJobs> | Promise<Reply<SignedJobs>>;

/** The signer over a thread with these answers, and a clock that stands. */
function signer(answer: Answering) {
  const seen = { started: 0, asked: 0, ended: 0, now: 0, told: 0 };
  const thread = {
    gone: Promise.resolve(),
    next: async () => ({ ready: null }),
    ask: async (jobs: readonly SigningJob[]): Promise<Reply<SignedJobs>> => {
      seen.asked++;
      return answer(jobs);
    },
    end: () => seen.ended++,
  } as unknown as Thread<readonly SigningJob[], Reply<SignedJobs>>;
  const logger = { info: () => seen.told++ } as unknown as Logger;
  const threads = signingThreads({ logger, monotonic: () => seen.now }, () => {
    seen.started++;
    return thread;
  });
  const signedBy = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) expect(await threads.sign(key, data)).toEqual(expected);
  };
  return { seen, threads, signedBy };
}

const signedByLibrary = (jobs: readonly SigningJob[]): Reply<SignedJobs> => ({
  answer: {
    signatures: jobs.map(
      ({ pem, data: octets }) =>
        inThisThread({ ...key, privateKey: createPrivateKey(pem) }, Buffer.from(octets)) as Buffer,
    ),
    library: 'a library',
  },
});
/** The answer of a thread in which the library is no quicker. */
const noQuicker = (): Reply<SignedJobs> => ({ fault: 'Error' });

test('a thread signs where it is quicker, once much is signed', async () => {
  const { seen, signedBy } = signer(signedByLibrary);
  for (let minute = 0; minute < 5; minute++) {
    seen.now = minute * 60_000;
    await signedBy(19);
  }
  expect(seen).toMatchObject({ started: 0, asked: 0 });
  seen.now += 60_000;
  await signedBy(20);
  await eventually('it was tried', async () => seen.told === 1 || undefined);
  await signedBy(5);
  expect(seen).toMatchObject({ started: 1, asked: 6, ended: 0 });
  // After a pause it may have ended: the pool signs what is not much.
  seen.now += 60_000;
  await signedBy(5);
  expect(seen.asked).toBe(6);
});

test('where it is not quicker it ends, and ten minutes later another one is tried', async () => {
  let isUnlucky = true;
  const { seen, signedBy } = signer((jobs) => (isUnlucky ? noQuicker() : signedByLibrary(jobs)));
  await signedBy(20);
  await eventually('it has ended', async () => seen.ended === 1 || undefined);
  seen.now += 599_999;
  await signedBy(60);
  expect(seen).toMatchObject({ started: 1, asked: 1, told: 0 });
  isUnlucky = false;
  seen.now += 1_001;
  await signedBy(20);
  await eventually('another one was tried', async () => seen.told === 1 || undefined);
  expect(seen).toMatchObject({ started: 2, asked: 2, ended: 1 });
});

test('where one was quicker, another that is not ends alone, and a minute later one is tried again', async () => {
  let isUnlucky = false;
  const { seen, signedBy } = signer((jobs) => (isUnlucky ? noQuicker() : signedByLibrary(jobs)));
  await signedBy(20);
  await eventually('it was tried', async () => seen.told === 1 || undefined);
  isUnlucky = true;
  await signedBy(40);
  expect(seen).toMatchObject({ started: 1, asked: 2, ended: 1 });
  isUnlucky = false;
  seen.now += 60_000;
  await signedBy(20);
  await eventually('another one was tried', async () => seen.told === 2 || undefined);
  await signedBy(5);
  expect(seen).toMatchObject({ started: 2, asked: 8, ended: 1 });
});

test('what a thread has not signed within a second is signed without it, and so is what follows', async () => {
  const stuck = Promise.withResolvers<Reply<SignedJobs>>();
  let isStuck = false;
  const { seen, signedBy } = signer((jobs) => (isStuck ? stuck.promise : signedByLibrary(jobs)));
  await signedBy(20);
  await eventually('it was tried', async () => seen.told === 1 || undefined);
  isStuck = true;
  await signedBy(40);
  expect(seen).toMatchObject({ asked: 2, ended: 0 });
  stuck.resolve(noQuicker());
});

test('what it cannot sign is signed without it, and it is left alone for a minute', async () => {
  let isBroken = false;
  const { seen, signedBy } = signer((jobs) => {
    if (isBroken) return { answer: { signatures: [], library: 'a library' } };
    return signedByLibrary(jobs);
  });
  await signedBy(20);
  await eventually('it was tried', async () => seen.told === 1 || undefined);
  isBroken = true;
  await signedBy(1);
  isBroken = false;
  await signedBy(40);
  expect(seen.asked).toBe(2);
  seen.now += 60_000;
  await signedBy(20);
  await eventually('it was tried again', async () => seen.told === 2 || undefined);
});

test('a real thread makes the same signatures, and after the end the pool does', async () => {
  let told = 0;
  const logger = { info: () => told++ } as unknown as Logger;
  const threads = signingThreads({ logger, monotonic: () => 0 });
  const all = await Promise.all(Array.from({ length: 200 }, () => threads.sign(key, data)));
  expect(all.every((one) => Buffer.from(one).equals(expected))).toBe(true);
  // The machine decides who is quicker.
  for (let n = 0; n < 50; n++) expect(Buffer.from(await threads.sign(key, data)).equals(expected)).toBe(true);
  threads.close();
  expect(Buffer.from(await threads.sign(key, data)).equals(expected)).toBe(true);
  expect(told).toBeLessThanOrEqual(1);
});

test('a real thread in which no library signs fails', async () => {
  const short = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
  const pem = short.export({ type: 'pkcs8', format: 'pem' }) as string;
  const entry = new URL('../../src/mail/dkim/signing-thread.ts', import.meta.url);
  const limits = { threads: 1, deadlineMs: 60_000, startMs: 60_000, mostWaiting: 1, idleMs: 60_000 };
  const pool = new WorkerPool<readonly SigningJob[], SignedJobs>('Signing', limits, () => startThread(entry));
  await expect(pool.ask([{ pem, data }])).rejects.toThrow('Signing failed: Error.');
  pool.close();
});
