import {
  WEBHOOK_ENDPOINT_STATES,
  WEBHOOK_ENDPOINT_VERSION,
  webhookEndpointMachine,
} from '../../../../machines/webhook-endpoint/machine.ts';
import { givenBack } from '../../../accounts/usage/queries.ts';
import { defineKind, type EffectMeanings, type FactTable } from '../../../engine/machine/kind.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import type { Registration } from '../../../engine/runtime/running-kind.ts';
import { mintId } from '../../../platform/db/ids.ts';
import { replayed, replays, scopeColumns } from '../deliveries/replay.ts';

/** The quota of endpoints has no period: creation counts one up and deletion counts one down. */
export const ENDPOINTS_PERIOD = 'webhooks';

/** The ids of one actor's facts ascend, so the last of several rotations in one commit wins. */
const replaced: FactTable = {
  name: 'replaced',
  columns: 'id text, sealed text, prefix text',
  sql: (source) => `update webhook_secrets w set sealed = s.sealed, prefix = s.prefix
    from (select distinct on (actor) actor, sealed, prefix from ${source} f order by actor, f.id desc) s
    where w.webhook_id = s.actor`,
};

const forgotten: FactTable = {
  name: 'forgotten',
  columns: 'period text',
  sql: (source) => `delete from webhook_secrets w using ${source} s where w.webhook_id = s.actor`,
};

const effects: EffectMeanings<typeof webhookEndpointMachine> = {
  replaceSecret: {
    fact: 'replaced',
    rows: ({ sealed, prefix }, _actor, at) => [{ id: mintId('evt', at), sealed, prefix }],
  },
  stopDeliveries: { order: true },
  forgetSecret: { fact: 'forgotten', rows: () => [{ period: ENDPOINTS_PERIOD }] },
  refund: { fact: givenBack.name, rows: () => [{ period: ENDPOINTS_PERIOD }] },
  replay: {
    fact: 'replayed',
    rows: ({ startAt, ...scope }) => [{ ...scopeColumns(scope), start_at: startAt }],
  },
};

/** The kind of endpoints: the receivers of events, and the count of their failures. */
export const webhookEndpointKind = defineKind({
  name: 'webhookEndpoint',
  table: 'webhook_endpoints',
  idPrefix: 'wh',
  machine: webhookEndpointMachine,
  states: WEBHOOK_ENDPOINT_STATES,
  version: WEBHOOK_ENDPOINT_VERSION,
  derived: [{ name: 'events', type: 'text[]', of: ({ events }) => events }],
  spawn: {
    columns: 'sealed text, prefix text',
    insertColumns: [],
    insertInto: [
      (source) =>
        `insert into webhook_secrets (webhook_id, sealed, prefix) select id, sealed, prefix from ${source}`,
    ],
  },
  actorColumnsForFacts: [],
  facts: [replaced, forgotten, givenBack, replayed],
  children: [replays],
  journal: 'webhook_endpoint_journal',
  receivesEvents: true,
  effects,
});

/** The registration of the kind, with the performer that stops the deliveries of inactive endpoints. */
export const webhookEndpoints = (performer: Performer): Registration => ({
  kind: webhookEndpointKind,
  performer,
});
