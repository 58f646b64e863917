import type { Duty } from '../../engine/duties/duty.ts';
import type { KeyAuthenticator } from '../../http/auth/key-authenticator.ts';
import type { Module } from '../../http/module.ts';
import type { ApiKeyCommands } from './commands.ts';
import { apiKeyLimit, keyInsertRule } from './insert-rule.ts';
import { apiKeyKind, apiKeys } from './kind.ts';
import { apiKeyRoutes } from './routes.ts';

/** Stores the times at which keys were last used, so that no request waits for it. */
export const keyUseRecorder = (authenticator: Pick<KeyAuthenticator, 'noteUse'>): Duty => ({
  name: 'keyUseRecorder',
  pattern: '*/10 * * * * *',
  isEverybodys: true,
  run: () => authenticator.noteUse(),
});

/** API keys and their permissions. */
export const apiKeysModule: Module<ApiKeyCommands> = {
  name: 'api-keys',
  tags: [
    { segment: 'api-keys', name: 'API keys', description: 'The keys of programs, and their permissions.' },
  ],
  kinds: [
    {
      kind: apiKeyKind,
      permission: 'api-keys:read',
      resource: 'api-keys',
      isLongLived: true,
      label: { title: 'a.name', facts: 'array[a.prefix]' },
    },
  ],
  insertRules: [keyInsertRule, apiKeyLimit],
  routes: apiKeyRoutes,
  open: ({ database, sealer, authenticator }) => ({
    registrations: [apiKeys],
    connect: ({ engine }) => ({
      api: undefined,
      deps: { database, sealer, engine },
      duties: [keyUseRecorder(authenticator)],
      close: () => authenticator.noteUse().catch(() => {}),
    }),
  }),
};
