import { VERSION } from '../../platform/config/version.ts';
import { Posthorn } from '../../web/client/posthorn.ts';
import { fetchBeginnings } from '../../web/mcp/result-size.ts';
import { MISUSE, type Terminal } from './terminal.ts';

/** The words of `posthorn mcp`. */
export interface McpRequest {
  readonly url: string;
  readonly key?: string;
  readonly allowChanges?: boolean;
}

/**
 * `posthorn mcp` speaks the Model Context Protocol on its standard streams until the input ends. Nothing else
 * is written there.
 */
export async function runMcp(
  { url, key, allowChanges = false }: McpRequest,
  terminal: Terminal,
): Promise<number> {
  if (!key || !/^https?:\/\/[^/]/.test(url)) {
    const missing = key
      ? '--url must be an address such as https://mail.example.com.'
      : 'An API key is needed: --key, or POSTHORN_API_KEY.';
    terminal.error(`${missing}\n`);
    return MISUSE;
  }
  // The protocol's library would be a fifth of the code that every other command loads.
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const { mcpServer } = await import('../../web/mcp/server.ts');
  const ask = fetchBeginnings((address, init) => fetch(address, init));
  const posthorn = new Posthorn({ apiKey: key, baseUrl: url, maxRetries: 1, fetch: ask });
  const server = mcpServer({ posthorn, allowsChanges: allowChanges, version: VERSION });
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
  });
  await server.connect(new StdioServerTransport());
  await ended;
  return 0;
}
