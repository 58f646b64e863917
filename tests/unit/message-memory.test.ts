import { expect, test } from 'bun:test';
import { LARGEST_FILE } from '../../src/audience/contacts/imports/model.ts';
import { diagnoseMemory } from '../../src/ops/doctor/machine.ts';
import { environmentOfWorker, processesHere } from '../../src/platform/config/environment.ts';
import { FITTING_MEMORY, messageMemory } from '../../src/platform/config/message-memory.ts';

const MIB = 1_048_576;
/** The shares of a memory, in MiB. */
const sharesOf = (memory: number) =>
  Object.fromEntries(
    Object.entries(messageMemory(memory * MIB)).map(([name, { total, each }]) => [
      name,
      [total, each].map((octets) => Math.floor(octets / MIB)),
    ]),
  );

test('a machine with plenty has as much as is useful', () => {
  const most = { requests: [512, 256], submitted: [256, 128], received: [64, 32], sent: [256, 128] };
  expect(sharesOf(24_000)).toEqual(most);
  // All of them full, beside an idle service, take so much.
  expect(sharesOf(256 + 4 * 1_088)).toEqual(most);
});

test.each([840, 1_024, 2_048, 4_096])(
  'a machine of %p MiB has what fits in it, all shares full at once',
  (memory) => {
    const all = Object.values(messageMemory(memory * MIB)).reduce((sum, { total }) => sum + total, 0);
    expect(256 * MIB + 4 * all).toBeLessThanOrEqual(memory * MIB);
  },
);

test('more memory is more for each share', () => {
  expect(sharesOf(1_024)).toMatchObject({ requests: [72, 50], submitted: [42, 32], received: [33, 32] });
  expect(sharesOf(2_048)).toMatchObject({ requests: [198, 99], submitted: [103, 51], received: [42, 32] });
});

test('each of several workers plans with its part of the memory', () => {
  expect([{}, environmentOfWorker(4), { POSTHORN_WORKERS: 'x' }].map(processesHere)).toEqual([1, 4, 1]);
  const module = `${import.meta.dir}/../../src/platform/config/message-memory.ts`;
  const script = `const { MESSAGE_MEMORY, messageMemory } = await import(${JSON.stringify(module)});
    console.log(Bun.deepEquals(MESSAGE_MEMORY, messageMemory(process.constrainedMemory() / 64)));`;
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { env: environmentOfWorker(64) });
  expect(stdout.toString()).toBe('true\n');
});

test('the smallest machine takes the largest body and the largest message, one at a time', () => {
  expect(messageMemory(0).requests.each).toBe(LARGEST_FILE);
  for (const memory of [64, 256, 512])
    expect(sharesOf(memory)).toEqual({
      requests: [50, 50],
      submitted: [32, 32],
      received: [32, 32],
      sent: [32, 32],
    });
});

test('doctor warns where the largest messages of every way do not fit at once', () => {
  expect(FITTING_MEMORY).toBe(840 * MIB);
  expect(diagnoseMemory(840 * MIB)).toMatchObject({ status: 'fine' });
  expect(diagnoseMemory(839 * MIB)).toMatchObject({
    status: 'warning',
    detail:
      '0.8 GiB, of which 50 MiB take bodies of requests that arrive at once, and 32 MiB messages by SMTP.',
  });
});
