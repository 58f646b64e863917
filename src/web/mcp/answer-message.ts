import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { JSON_TYPE } from '../../http/body/media-type.ts';
import { type Call, RawResponse } from '../../http/request/route.ts';
import { Posthorn } from '../client/posthorn.ts';
import { fetchBeginnings } from './result-size.ts';
import { mcpServer } from './server.ts';

/** The services that the endpoint calls. */
export interface McpDeps {
  readonly publicUrl: string;
  readonly allowsChanges: boolean;
  readonly version: string;
  /**
   * The service itself: a tool's request passes every check again, with the key of the caller and from its
   * address.
   */
  ask(request: Request, client: string): Promise<Response>;
}

/** Less than the work of a whole request may take. */
const TOOL_MS = 7_000;

/**
 * The requests of the tools leave no process: they arrive as behind a proxy that ends TLS and takes the path
 * of PUBLIC_URL off.
 */
const HERE = 'http://localhost';

/** A request as it would arrive: a body without a length would count as none. */
function requestOf(url: string, init: RequestInit): Request {
  const headers = new Headers(init.headers);
  const { body } = init;
  if (typeof body === 'string') headers.set('content-length', String(Buffer.byteLength(body)));
  if (body instanceof Blob) headers.set('content-length', String(body.size));
  return new Request(url, { ...init, headers });
}

const EVENTS_TYPE = 'text/event-stream';

/**
 * Tells the form of the answer. The protocol asks clients to accept both forms, and its library refuses all
 * others; some accept one alone, or send what their HTTP library sends. Each of them can read one of the two.
 */
function wantsEvents(headers: Headers): boolean {
  const accept = headers.get('accept')?.toLowerCase() ?? '';
  return accept.includes(EVENTS_TYPE) && !accept.includes(JSON_TYPE) && !accept.includes('*/*');
}

/** Answers one message with a server that lives no longer. */
export async function answerMessage(deps: McpDeps, { headers, body, client }: Call): Promise<RawResponse> {
  const apiKey = (headers.get('authorization') ?? '').replace(/^bearer\s+/i, '');
  const posthorn = new Posthorn({
    apiKey,
    baseUrl: HERE,
    maxRetries: 0,
    timeoutMs: TOOL_MS,
    fetch: fetchBeginnings((url, init) => deps.ask(requestOf(url, init), client)),
  });
  const server = mcpServer({ posthorn, allowsChanges: deps.allowsChanges, version: deps.version });
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: !wantsEvents(headers),
  });
  const accepting = new Headers(headers);
  accepting.set('accept', `${JSON_TYPE}, ${EVENTS_TYPE}`);
  try {
    await server.connect(transport);
    const request = new Request(deps.publicUrl, { method: 'POST', headers: accepting });
    const response = await transport.handleRequest(request, { parsedBody: body });
    return new RawResponse(response.headers.get('content-type'), await response.text(), {
      status: response.status,
      headers: { 'cache-control': 'no-store' },
    });
  } finally {
    await server.close();
  }
}
