import { API_KEY_STATES, API_KEY_VERSION, apiKeyMachine } from '../../../machines/api-key/machine.ts';
import { defineKind } from '../../engine/machine/kind.ts';
import type { Registration } from '../../engine/runtime/running-kind.ts';

export const apiKeyKind = defineKind({
  name: 'apiKey',
  table: 'api_keys',
  idPrefix: 'key',
  machine: apiKeyMachine,
  states: API_KEY_STATES,
  version: API_KEY_VERSION,
  derived: [
    {
      name: 'revoked_at',
      type: 'timestamptz',
      of: ({ revokedAt }) => (revokedAt === null ? null : new Date(revokedAt).toISOString()),
    },
  ],
  spawn: {
    columns: 'name text, prefix text, hash text, created_by text',
    insertColumns: ['name', 'prefix', 'hash', 'created_by'],
    insertInto: [],
  },
  actorColumnsForFacts: [],
  facts: [],
  children: [],
  journal: 'api_key_journal',
  effects: {},
});

/** The registration of the kind. It has no performer, because keys give no orders. */
export const apiKeys: Registration = { kind: apiKeyKind };
