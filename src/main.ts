import './ops/commands/serving/compile-early.ts';
import { endBySignals } from './ops/commands/serving/shutdown.ts';
import { goByUtc } from './platform/config/environment.ts';

endBySignals((code) => process.exit(code));
goByUtc();

const words = process.argv.slice(2);
// The reader closed the pipe (`posthorn doctor | head`): the exit code of SIGPIPE, without a stack.
const READER_GONE = 128 + 13;
const lost = Promise.withResolvers<void>();
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A service goes on without its greeting, as it does without its log. A command whose output is lost has
  // failed.
  const isService = words[0] === 'serve';
  if (error.code === 'EPIPE' && !isService) process.exit(READER_GONE);
  process.stderr.write(`The output could not be written: ${error.message}\n`);
  if (!isService) process.exit(1);
  lost.resolve();
});
// Nothing is left to say it to.
process.stderr.on('error', () => {});

// The rest of the program is a separate file in the executable, read and evaluated only now.
const { run } = await import('./ops/commands/run.ts');
const code = await run(words);
// A pipe takes 64 KB at once; what is left of a long text would go with the process. A stream that has failed
// never ends.
await Promise.race([lost.promise, new Promise<void>((resolve) => process.stdout.end(() => resolve()))]);
process.exit(code);
