import { Type } from '@sinclair/typebox';
import { type Call, RawResponse, type Route, route } from '../../http/request/route.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { McpDeps } from './answer-message.ts';

const PATH = '/mcp';

/** One message of the protocol. Several in one body would be several requests that count as one. */
const Message = Type.Object(
  { jsonrpc: Type.Literal('2.0'), method: Type.Optional(Type.String({ maxLength: 100 })) },
  { additionalProperties: true },
);

const FOREIGN_ORIGIN = new Failure('FORBIDDEN', 'Pages of other sites may not use this endpoint.', {
  suggestion: 'Send no Origin, or that of PUBLIC_URL.',
});

/** A page whose name was pointed at this service (DNS rebinding) has another origin. */
const isForeign = (headers: Headers, publicUrl: string): boolean => {
  const origin = headers.get('origin');
  return origin !== null && origin !== new URL(publicUrl).origin;
};

/**
 * The Model Context Protocol over HTTP, without sessions: each message is answered independently, on any
 * instance.
 */
export function mcpRoutes(deps: McpDeps): readonly Route[] {
  const isRefused = ({ headers }: Call): boolean => isForeign(headers, deps.publicUrl);
  const noStream = (call: Call): RawResponse | Failure =>
    isRefused(call)
      ? FOREIGN_ORIGIN
      : new RawResponse(null, null, { status: 405, headers: { allow: 'POST' } });
  return [
    route(`POST ${PATH}`, {
      permission: 'any key',
      principals: ['key'],
      summary: 'Take a message of the Model Context Protocol',
      body: Message,
      response: Type.Unknown(),
      handle: async (call) => {
        if (isRefused(call)) return FOREIGN_ORIGIN;
        // The protocol's own library is a seventh of what a start loads, and most installations never need
        // it.
        const { answerMessage } = await import('./answer-message.ts');
        return answerMessage(deps, call);
      },
    }),
    ...(['GET', 'DELETE'] as const).map((method) =>
      route(`${method} ${PATH}`, {
        permission: 'any key',
        principals: ['key'],
        summary: 'Tell that there are no streams and no sessions',
        response: Type.Unknown(),
        handle: noStream,
      }),
    ),
  ];
}
