import { loadConfig } from '../../platform/config/config.ts';
import { askSecret } from './accounts/ask-secret.ts';
import { runCommandLine } from './command-line.ts';
import type { Terminal } from './terminal.ts';

const terminal: Terminal = {
  out: (text: string) => void process.stdout.write(text),
  error: (text: string) => void process.stderr.write(text),
  columns: process.stderr.isTTY ? process.stderr.columns : undefined,
  ...(process.stdin.isTTY && {
    askSecret: (question: string) => askSecret(process.stdin, (text) => terminal.error(text), question),
  }),
};

/** Runs the command line of this process on its terminal, and returns the exit code. */
export async function run(words: readonly string[]): Promise<number> {
  try {
    return await runCommandLine(words, terminal, (above) => loadConfig(undefined, undefined, above));
  } catch (error) {
    const { exitCodeOf, explain } = await import('./explain.ts');
    terminal.error(explain(error));
    return exitCodeOf(error);
  }
}
