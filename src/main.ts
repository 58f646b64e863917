import './commands/compile-early.ts';
import { askSecret } from './commands/ask-secret.ts';
import { runCommandLine } from './commands/command-line.ts';
import { exitCodeOf, explain } from './commands/explain.ts';
import type { Terminal } from './commands/terminal.ts';
import { loadConfig } from './config/config.ts';

const terminal: Terminal = {
  out: (text: string) => void process.stdout.write(text),
  error: (text: string) => void process.stderr.write(text),
  columns: process.stderr.isTTY ? process.stderr.columns : undefined,
  ...(process.stdin.isTTY && {
    askSecret: (question: string) => askSecret(process.stdin, (text) => terminal.error(text), question),
  }),
};

// Whoever reads has had enough (`posthorn doctor | head`): the end that SIGPIPE gives other programs, and no stack.
const READER_GONE = 128 + 13;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(READER_GONE);
});

let code: number;
try {
  code = await runCommandLine(process.argv.slice(2), terminal, (above) =>
    loadConfig(undefined, undefined, above),
  );
} catch (error) {
  terminal.error(explain(error));
  code = exitCodeOf(error);
}
// A pipe takes 64 KB at once; what is left of a long text would go with the process.
await new Promise<void>((resolve) => process.stdout.end(() => resolve()));
process.exit(code);
