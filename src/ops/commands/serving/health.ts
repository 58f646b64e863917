import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ClientRequest, get } from 'node:http';
import type { Config } from '../../../platform/config/config.ts';
import { loopbackOf } from '../../doctor/running-service.ts';
import type { Terminal } from '../terminal.ts';

/** The limit is shorter than the interval at which a container runtime checks. */
const PATIENCE_MS = 5_000;

/**
 * `posthorn health` asks the service on this machine. The container image has no other program that could.
 */
export async function checkHealth(config: Config, terminal: Terminal): Promise<number> {
  const url = `http://${loopbackOf(config.host)}:${config.port}/health`;
  try {
    const request: ClientRequest = get(url, { timeout: PATIENCE_MS });
    request.once('timeout', () => request.destroy(new Error(`no answer within ${PATIENCE_MS / 1000} s`)));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    if (response.statusCode === 200) {
      terminal.out('ok\n');
      return 0;
    }
    terminal.error(`${url} answers ${response.statusCode}.\n`);
  } catch (error) {
    terminal.error(`${url}: ${(error as Error).message}\n`);
  }
  return 1;
}
