import type { Module } from '../../http/module.ts';
import type { McpDeps } from './answer-message.ts';
import { mcpRoutes } from './routes.ts';

/**
 * The Model Context Protocol for assistants. The API reference leaves it out, because the protocol has its
 * own descriptions.
 */
export const mcpModule: Module<McpDeps, Pick<McpDeps, 'ask'>> = {
  name: 'mcp',
  pages: mcpRoutes,
  open: ({ config, version }) => ({
    connect: (_, { ask }) => ({
      api: undefined,
      deps: { publicUrl: config.publicUrl, allowsChanges: config.mcpChanges === 'on', version, ask },
    }),
  }),
};
