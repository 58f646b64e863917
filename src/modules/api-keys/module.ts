import { defineModule } from '../module.ts';
import type { ApiKeyCommands } from './commands.ts';
import { keyUseRecorder } from './key-use-recorder.ts';
import { apiKeyKind, apiKeys } from './kind.ts';
import { apiKeyRoutes } from './routes.ts';

/** API keys: who may call, and what they may do. */
export const apiKeysModule = defineModule<ApiKeyCommands>({
  name: 'api-keys',
  tags: [{ segment: 'api-keys', name: 'API keys', description: 'Who may call, and what they may do.' }],
  kinds: [
    {
      kind: apiKeyKind,
      permission: 'api-keys:read',
      isLongLived: true,
      label: { title: 'a.name', facts: 'array[a.prefix]' },
    },
  ],
  routes: apiKeyRoutes,
  open: ({ database, sealer, authenticator }) => ({
    registrations: [apiKeys],
    connect: ({ engine }) => ({
      deps: { database, sealer, engine },
      duties: [keyUseRecorder(authenticator)],
      close: () => authenticator.noteUse().catch(() => {}),
    }),
  }),
});
