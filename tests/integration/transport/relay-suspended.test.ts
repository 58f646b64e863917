import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { momentOf } from '../../support/eventually.ts';
import { startSink } from './smtp-sink.ts';

const SILENCE_MS = 500;

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
  const answer = await came.promise;
  sender.kill('SIGSTOP');
  answer();
  await momentOf(Date.now() + 2 * SILENCE_MS);
  sender.kill('SIGCONT');
  expect(await new Response(sender.stdout).text()).toStartWith('accepted ');
});
