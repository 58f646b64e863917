import {
  WEBHOOK_ENDPOINT_STATES,
  WEBHOOK_ENDPOINT_VERSION,
  type WebhookEndpointInput,
  webhookEndpointMachine,
} from '../../../../machines/webhook-endpoint.ts';
import { mintId } from '../../../db/ids.ts';
import type { Registration } from '../../../engine/engine.ts';
import { defineKind, type EffectMeanings, type FactTable } from '../../../engine/kind.ts';
import type { Performer } from '../../../engine/performers.ts';
import { givenBack } from '../../usage/queries.ts';
import { replayed, replays, scopeColumns } from '../deliveries/replay.ts';

/** Endpoints have no period: a place is taken when one is made and given back when it is deleted. */
export const PLACES_PERIOD = 'webhooks';

/** Of several rotations in one commit the last one holds: ids of one actor's facts ascend. */
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
  forgetSecret: { fact: 'forgotten', rows: () => [{ period: PLACES_PERIOD }] },
  refund: { fact: givenBack.name, rows: () => [{ period: PLACES_PERIOD }] },
  replay: {
    fact: 'replayed',
    rows: ({ startAt, ...scope }) => [{ ...scopeColumns(scope), start_at: startAt }],
  },
};

/** Endpoints as actors: where events go, and whether they are well. */
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

const sampleInput: WebhookEndpointInput = { at: 0, url: 'https://example.com/', events: [] };

/** The kind as the engine takes it, with what stops the deliveries of those that are no longer active. */
export const webhookEndpoints = (performer: Performer): Registration => ({
  kind: webhookEndpointKind,
  sampleInput,
  performer,
});
