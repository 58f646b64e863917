import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { momentOf } from '../../support/eventually.ts';
import { startSink } from './smtp-sink.ts';

/** Longer than a busy machine needs for a greeting, as the same patience holds for that. */
const SILENCE_MS = 5000;

test('a process that was stopped for longer than a server may be silent still reads the reply that came meanwhile', async () => {
  const came = Promise.withResolvers<() => void>();
  await using sink = await startSink({
    onData(stream, _session, done) {
      stream.resume();
      stream.on('end', () => came.resolve(done));
    },
  });
  const program = join(import.meta.dir, 'relay-suspended-process.ts');
  const command = [process.execPath, program, String(sink.port), String(SILENCE_MS)];
  const sender = Bun.spawn(command, { stdout: 'pipe' });
  const printed = new Response(sender.stdout).text();
  const answer = await Promise.race([came.promise, printed]);
  if (typeof answer === 'string') throw new Error(`the sender ended before its message had come: ${answer}`);
  sender.kill('SIGSTOP');
  answer();
  await momentOf(Date.now() + SILENCE_MS + 500);
  sender.kill('SIGCONT');
  expect(await printed).toStartWith('accepted ');
});
