import { expect, test } from 'bun:test';
import { type SignInDeps, signIn } from '../../../src/accounts/members/sign-in/sign-in.ts';
import { SlowDown } from '../../../src/http/auth/passwords/slow-down.ts';
import { UnavailableError } from '../../../src/platform/errors/unavailable.ts';

function world() {
  const clock = { now: 0 };
  const slowDown = new SlowDown(() => clock.now);
  const wait = (...names: string[]) => slowDown.begin(names).waitSeconds;
  return { clock, slowDown, wait };
}

test('ten wrong attempts are free; then the wait doubles from a second to a quarter of an hour', () => {
  const { clock, wait } = world();
  for (let attempt = 1; attempt <= 10; attempt++) expect(wait('account a')).toBe(0);
  const waits: number[] = [];
  for (let attempt = 11; attempt <= 22; attempt++) {
    const seconds = wait('account a');
    waits.push(seconds);
    clock.now += seconds * 1_000 - 1;
    expect(wait('account a')).toBe(1);
    clock.now += 1;
    expect(wait('account a')).toBe(0);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

test('a sprayer is slowed by the address, whatever accounts are tried, and others are not', () => {
  const { wait } = world();
  for (let account = 0; account < 10; account++) expect(wait(`account ${account}`, 'client evil')).toBe(0);
  expect(wait('account 10', 'client evil')).toBe(1);
  expect(wait('account 10', 'client good')).toBe(0);
});

test('a hundred attempts at the same time are not all free', () => {
  const { wait } = world();
  const free = Array.from({ length: 100 }, () => wait('account a', 'client b')).filter(
    (seconds) => seconds === 0,
  );
  expect(free).toHaveLength(10);
});

test('who succeeds starts again, and takes back only his own attempt from the address', () => {
  const { slowDown, wait } = world();
  for (let attempt = 0; attempt < 9; attempt++) wait('account victim', 'client evil');
  expect(wait('account own', 'client evil')).toBe(0);
  slowDown.succeeded('account own', ['client evil']);
  expect(wait('account victim', 'client evil')).toBe(0);
  expect(wait('account victim', 'client evil')).toBe(1);
  expect(wait('account victim', 'client other')).toBe(1);
  slowDown.succeeded('account victim', []);
  expect(wait('account victim', 'client other')).toBe(0);
});

test('attempts are forgotten after a day, and the longest idle name for a new one once there are too many', () => {
  const { clock, wait } = world();
  for (let attempt = 0; attempt < 10; attempt++) wait('account a');
  expect(wait('account a')).toBe(1);
  clock.now += 86_400_001;
  expect(wait('account a')).toBe(0);
  for (let attempt = 0; attempt < 9; attempt++) wait('account a');
  expect(wait('account a')).toBe(1);
  for (let other = 0; other < 20_000; other++) wait(`account ${other}`);
  expect(wait('account a')).toBe(0);
});

test('an attempt that was not wrong is taken back, and clears nothing of those before it', () => {
  const { slowDown, wait } = world();
  let guesses = 0;
  // A thief of the password asks without a code, which is right so far, between any two guesses of the code.
  for (let turn = 0; turn < 100; turn++) {
    if (wait('account a') === 0) slowDown.takeBack(['account a']);
    if (wait('account a') === 0) guesses++;
  }
  expect(guesses).toBe(10);
});

test('the typing errors of a busy office do not add up: one an hour is forgiven', () => {
  const { clock, slowDown, wait } = world();
  for (let hour = 0; hour < 1_000; hour++) {
    clock.now += 3_600_000;
    expect([hour, wait('account typing', 'client office')]).toEqual([hour, 0]);
    expect([hour, wait('account right', 'client office')]).toEqual([hour, 0]);
    slowDown.succeeded('account right', ['client office']);
  }
  // Further guesses get no more than that.
  for (let attempt = 0; attempt < 9; attempt++) wait('account victim', 'client office');
  expect(wait('account victim', 'client office')).toBe(1);
});

test('an attempt that the service could not look at was no wrong one', async () => {
  const { slowDown, wait } = world();
  const isAway = () => Promise.reject(new UnavailableError('The database is away.'));
  const database = { query: isAway, read: isAway };
  const deps = { slowDown, database } as unknown as SignInDeps;
  const browser = { headers: new Headers(), client: '192.0.2.1', now: 0, requestId: 'req_1' };
  for (let attempt = 0; attempt < 20; attempt++)
    await expect(signIn(deps, { email: 'a@b.example', password: 'x' }, browser)).rejects.toThrow('away');
  expect(wait('account a@b.example', 'client 192.0.2.1')).toBe(0);
});
