import { expect, test } from 'bun:test';
import { join } from 'node:path';

/**
 * Of each round the process may run a twentieth. What it is held still for is longer than a rendering may
 * take.
 */
const ROUND_MS = 1_500;
const RUNNING_MS = 75;

test('a process that is stopped 95 % of the time refuses no rendering', async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'rendering-held-still.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  expect((await lines.read()).value).toBe('ready\n');
  void child.stdin.write('go\n');
  void child.stdin.flush();
  const timers = [
    setInterval(() => child.kill('SIGSTOP'), ROUND_MS),
    setInterval(() => {
      child.kill('SIGCONT');
      setTimeout(() => child.kill('SIGSTOP'), RUNNING_MS);
    }, ROUND_MS),
  ];
  try {
    const outcomes = JSON.parse((await lines.read()).value ?? '[]');
    expect(new Set(outcomes)).toEqual(new Set(['markdown', 'read', 'rendered']));
  } finally {
    for (const timer of timers) clearInterval(timer);
    child.kill('SIGCONT');
    child.kill();
    await child.exited;
  }
});
