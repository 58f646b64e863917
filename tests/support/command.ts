import { runCommandLine } from '../../src/ops/commands/command-line.ts';
import { exitCodeOf, explain } from '../../src/ops/commands/explain.ts';
import { loadConfig } from '../../src/platform/config/config.ts';

/** The output of a command, and its exit code. */
export interface Commanded {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs a command line in this process, as `posthorn` does, with nothing in the environment but this. */
export async function command(environment: Record<string, string>, ...words: string[]): Promise<Commanded> {
  const printed = { out: '', error: '' };
  const terminal = {
    out(text: string) {
      printed.out += text;
    },
    error(text: string) {
      printed.error += text;
    },
  };
  let code: number;
  try {
    code = await runCommandLine(words, terminal, () => loadConfig(environment));
  } catch (error) {
    terminal.error(explain(error));
    code = exitCodeOf(error);
  }
  return { code, ...printed };
}
