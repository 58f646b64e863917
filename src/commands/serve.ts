import type { Config } from '../config.ts';
import type { Terminal } from './terminal.ts';
export async function serve(_config: Config, _terminal: Terminal): Promise<number> {
  return 0;
}
