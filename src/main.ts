import './ops/commands/serving/compile-early.ts';
import { goByUtc } from './platform/config/environment.ts';

goByUtc();

// The reader closed the pipe (`posthorn doctor | head`): the exit code of SIGPIPE, without a stack.
const READER_GONE = 128 + 13;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(READER_GONE);
});

// The rest of the program is a separate file in the executable, read and evaluated only now.
const { run } = await import('./ops/commands/run.ts');
const code = await run(process.argv.slice(2));
// A pipe takes 64 KB at once; what is left of a long text would go with the process.
await new Promise<void>((resolve) => process.stdout.end(() => resolve()));
process.exit(code);
