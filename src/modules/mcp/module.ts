import { defineModule } from '../module.ts';
import type { McpDeps } from './answer-message.ts';
import { mcpRoutes } from './routes.ts';

/** The Model Context Protocol for assistants. The API reference leaves it out: it has descriptions of its own. */
export const mcpModule = defineModule<McpDeps>({
  name: 'mcp',
  pages: mcpRoutes,
  open: ({ config, version }) => ({
    connect: ({ offers }) => ({
      deps: {
        ...{ publicUrl: config.publicUrl, allowsChanges: config.mcpChanges === 'on', version },
        ask(request, client) {
          if (!offers.ask) throw new Error('The service has not been put together yet.');
          return offers.ask(request, client);
        },
      },
    }),
  }),
});
