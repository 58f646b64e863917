import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { Type } from '@sinclair/typebox';
import { Posthorn } from '../../client/posthorn.ts';
import { Failure } from '../../http/failure.ts';
import { type Call, RawResponse, type Route, route } from '../../http/route.ts';
import { mcpServer } from './server.ts';

/** The services that the endpoint calls. */
export interface McpDeps {
  readonly publicUrl: string;
  readonly allowsChanges: boolean;
  readonly version: string;
  /** The service itself: a tool's request passes every check again, with the key of the caller and from its address. */
  ask(request: Request, client: string): Promise<Response>;
}

const PATH = '/mcp';
/** Less than the work of a whole request may take. */
const TOOL_MS = 7_000;

/** One message of the protocol. Several in one body would be several requests that count as one. */
const Message = Type.Object(
  { jsonrpc: Type.Literal('2.0'), method: Type.Optional(Type.String({ maxLength: 100 })) },
  { additionalProperties: true },
);

const FOREIGN_ORIGIN = new Failure('FORBIDDEN', 'Pages of other sites may not use this endpoint.', {
  suggestion: 'Send no Origin, or that of PUBLIC_URL.',
});

/** A page whose name was made to lead here has another origin than this service. */
const isForeign = (headers: Headers, publicUrl: string): boolean => {
  const origin = headers.get('origin');
  return origin !== null && origin !== new URL(publicUrl).origin;
};

/** The Model Context Protocol over HTTP, without sessions: each message is answered by itself, on any instance. */
export function mcpRoutes(deps: McpDeps): readonly Route[] {
  const isRefused = ({ headers }: Call): boolean => isForeign(headers, deps.publicUrl);
  const noStream = (call: Call): RawResponse | Failure =>
    isRefused(call)
      ? FOREIGN_ORIGIN
      : new RawResponse(null, null, { status: 405, headers: { allow: 'POST' } });
  return [
    route({
      method: 'POST',
      path: PATH,
      permission: 'any key',
      principals: ['key'],
      summary: 'Take a message of the Model Context Protocol',
      body: Message,
      response: Type.Unknown(),
      status: 200,
      handle: (call) => (isRefused(call) ? FOREIGN_ORIGIN : answer(deps, call)),
    }),
    ...(['GET', 'DELETE'] as const).map((method) =>
      route({
        method,
        path: PATH,
        permission: 'any key',
        principals: ['key'],
        summary: 'Tell that there are no streams and no sessions',
        response: Type.Unknown(),
        status: 200,
        handle: noStream,
      }),
    ),
  ];
}

/** A request as it would arrive: a body without a length would count as none. */
function requestOf(url: string, init: RequestInit): Request {
  const headers = new Headers(init.headers);
  if (typeof init.body === 'string') headers.set('content-length', String(Buffer.byteLength(init.body)));
  return new Request(url, { ...init, headers });
}

async function answer(deps: McpDeps, { headers, body, client }: Call): Promise<RawResponse> {
  const apiKey = (headers.get('authorization') ?? '').replace(/^bearer\s+/i, '');
  const posthorn = new Posthorn({
    ...{ apiKey, baseUrl: deps.publicUrl, maxRetries: 0, timeoutMs: TOOL_MS },
    fetch: (url, init) => deps.ask(requestOf(url, init), client),
  });
  const server = mcpServer({ posthorn, allowsChanges: deps.allowsChanges, version: deps.version });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    const request = new Request(deps.publicUrl + PATH, { method: 'POST', headers });
    const response = await transport.handleRequest(request, { parsedBody: body });
    return new RawResponse(response.headers.get('content-type'), await response.text(), {
      status: response.status,
      headers: { 'cache-control': 'no-store' },
    });
  } finally {
    await server.close();
  }
}
