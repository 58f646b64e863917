import type { NextKeys } from '../../../machines/domain/context.ts';
import { DOMAIN_STATES, DOMAIN_VERSION, domainMachine } from '../../../machines/domain/machine.ts';
import { DOMAINS_PERIOD, givenBack } from '../../accounts/usage/queries.ts';
import { defineKind, type EffectMeanings, type FactTable } from '../../engine/machine/kind.ts';
import type { Performer } from '../../engine/runtime/performers.ts';
import type { Registration } from '../../engine/runtime/running-kind.ts';
import { mintId } from '../../platform/db/ids.ts';

/** Deletes the keys of a removed domain, so that no instance can sign for it any more. */
const forgotten: FactTable = {
  name: 'forgotten',
  columns: 'gone boolean',
  sql: (source) =>
    `delete from domain_keys k using ${source} s where k.domain_id = s.actor returning k.domain_id`,
};

/** A domain that is removed in the same commit gets no new keys. */
const REMAINS = 'not exists (select from forgotten g where g.domain_id = s.actor)';

const prepared: FactTable = {
  name: 'prepared',
  columns:
    'selector text, rsa_value text, ed25519_value text, rsa_key text, ed25519_key text, since timestamptz',
  sql: (
    source,
  ) => `insert into domain_keys (domain_id, selector, rsa_value, ed25519_value, rsa, ed25519, stage, since)
    select actor, selector, rsa_value, ed25519_value, rsa_key, ed25519_key, 'pending', since from ${source} s where ${REMAINS}`,
};

const switched: FactTable = {
  name: 'switched',
  columns: 'selector text, since timestamptz',
  sql: (source) => `update domain_keys k set
      stage = case when k.selector = s.selector then 'active' else 'retired' end,
      rsa = case when k.selector = s.selector then k.rsa end,
      ed25519 = case when k.selector = s.selector then k.ed25519 end,
      since = s.since
    from ${source} s where k.domain_id = s.actor and k.stage <> 'retired' and ${REMAINS} and exists (
      select from domain_keys p where p.domain_id = s.actor and p.selector = s.selector and p.stage = 'pending')`,
};

/**
 * The ids of one actor's facts ascend, so the last of several choices in one commit wins; members that none
 * of them names stay.
 */
const chosen: FactTable = {
  name: 'chosen',
  columns: 'id text, provider text, sets_provider boolean, fallbacks text, warm_ups json',
  sql: (source) => `insert into domain_transports (domain_id, provider, fallbacks, warm_ups)
    select c.actor, case when c.sets_provider then c.provider else t.provider end,
      coalesce(string_to_array(c.fallbacks, ','), t.fallbacks, '{}'), coalesce(c.warm_ups, t.warm_ups, '[]')
    from (select f.actor, bool_or(f.sets_provider) as sets_provider,
        (array_agg(f.provider order by f.id desc) filter (where f.sets_provider))[1] as provider,
        (array_agg(f.fallbacks order by f.id desc) filter (where f.fallbacks is not null))[1] as fallbacks,
        (array_agg(f.warm_ups order by f.id desc) filter (where f.warm_ups is not null))[1] as warm_ups
      from ${source} f group by f.actor) c left join domain_transports t on t.domain_id = c.actor
    on conflict (domain_id) do update
      set provider = excluded.provider, fallbacks = excluded.fallbacks, warm_ups = excluded.warm_ups`,
};

const effects: EffectMeanings<typeof domainMachine> = {
  check: { order: true },
  prepareKeys: {
    fact: prepared.name,
    rows: ({ keys }, _actor, at) => (keys ? [keyColumns(keys, at)] : []),
  },
  switchKeys: {
    fact: switched.name,
    rows: ({ selector }, _actor, at) =>
      selector === null ? [] : [{ selector, since: new Date(at).toISOString() }],
  },
  chooseTransport: {
    fact: chosen.name,
    rows: ({ provider, fallbacks, warmUps }, _actor, at) => [
      {
        id: mintId('evt', at),
        provider: provider ?? null,
        sets_provider: provider !== undefined,
        fallbacks: fallbacks?.join(',') ?? null,
        warm_ups: warmUps ?? null,
      },
    ],
  },
  forgetKeys: { fact: 'forgotten', rows: () => [{ gone: true }] },
  refund: { fact: givenBack.name, rows: () => [{ period: DOMAINS_PERIOD }] },
};

/** New keys as the columns of the statements. */
export const keyColumns = (keys: NextKeys, at: number) => ({
  selector: keys.selector,
  rsa_value: keys.rsaValue,
  ed25519_value: keys.ed25519Value,
  rsa_key: keys.sealedRsa,
  ed25519_key: keys.sealedEd25519,
  since: new Date(at).toISOString(),
});

/**
 * The kind of sending domains. Both environments share them, and their rows count as live, because test mail
 * needs none.
 */
export const domainKind = defineKind({
  name: 'domain',
  table: 'domains',
  idPrefix: 'dom',
  machine: domainMachine,
  states: DOMAIN_STATES,
  version: DOMAIN_VERSION,
  derived: [],
  spawn: {
    columns: `name text, return_path text, tracking_domain text, provider text, fallbacks text[], warm_ups json, ${prepared.columns}`,
    insertColumns: ['name', 'return_path', 'tracking_domain'],
    insertInto: [
      (source) =>
        `insert into domain_keys (domain_id, selector, rsa_value, ed25519_value, rsa, ed25519, stage, since)
        select id, selector, rsa_value, ed25519_value, rsa_key, ed25519_key, 'active', since from ${source}`,
      (source) =>
        `insert into domain_transports (domain_id, provider, fallbacks, warm_ups)
        select id, provider, fallbacks, warm_ups from ${source}
        where provider is not null or fallbacks <> '{}' or json_array_length(warm_ups) > 0`,
    ],
  },
  actorColumnsForFacts: [],
  facts: [forgotten, prepared, switched, chosen, givenBack],
  children: [],
  journal: 'domain_journal',
  effects,
});

/** The registration of the kind, with the performer of its checks. */
export const domains = (performer: Performer): Registration => ({ kind: domainKind, performer });
