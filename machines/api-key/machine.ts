import { setup } from 'xstate';
import { storedStates } from '../names.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const API_KEY_VERSION = 1;

/** The context of an API key. The secret itself is stored nowhere. */
export interface ApiKeyContext {
  /** Moment of the last change, epoch milliseconds. */
  readonly at: number;
  /** `*` is stored alone. */
  readonly permissions: readonly string[];
  readonly revokedAt: number | null;
}

export type ApiKeyInput = Pick<ApiKeyContext, 'at' | 'permissions'>;

export type ApiKeyEvent =
  /** The whole set of permissions is replaced, never merged. */
  | { readonly type: 'permissions.replaced'; readonly at: number; readonly permissions: readonly string[] }
  /** The key stops working for good. */
  | { readonly type: 'revoke.requested'; readonly at: number };

const apiKeySetup = setup({
  types: { context: {} as ApiKeyContext, events: {} as ApiKeyEvent, input: {} as ApiKeyInput },
});

const replacePermissions = apiKeySetup.assign(({ context, event }) => ({
  at: event.at,
  permissions: event.type === 'permissions.replaced' ? event.permissions : context.permissions,
}));
const noteRevocation = apiKeySetup.assign(({ event }) => ({ at: event.at, revokedAt: event.at }));

export const apiKeyMachine = apiKeySetup.createMachine({
  id: 'apiKey',
  context: ({ input }) => ({ ...input, revokedAt: null }),
  initial: 'active',
  states: {
    active: {
      description: 'Authenticates requests, within its permissions.',
      on: {
        'permissions.replaced': { actions: replacePermissions },
        'revoke.requested': { target: 'revoked', actions: noteRevocation },
      },
    },
    revoked: { type: 'final', description: 'Every request with it is answered with 401, for ever.' },
  },
});

/** The states that a key is stored in. */
export const API_KEY_STATES = storedStates(apiKeyMachine);
