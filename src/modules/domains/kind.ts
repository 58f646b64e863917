import { DOMAIN_VERSION, type DomainInput, domainMachine } from '../../../machines/domain.ts';
import { mintId } from '../../db/ids.ts';
import type { Registration } from '../../engine/engine.ts';
import type { Actor, EffectMeaning, FactTable, Kind } from '../../engine/kind.ts';
import type { Performer } from '../../engine/performers.ts';
import { DOMAINS_PERIOD, givenBack } from '../usage/queries.ts';

/** Of a removed domain nobody can sign any more. */
const forgotten: FactTable = {
  name: 'forgotten',
  columns: 'gone boolean',
  sql: (source) => `delete from domain_keys k using ${source} s where k.domain_id = s.actor`,
};

/** Of several choices in one commit the last one holds: ids of one actor's facts ascend. */
const chosen: FactTable = {
  name: 'chosen',
  columns: 'id text, provider text',
  sql: (source) => `insert into domain_transports (domain_id, provider)
    select distinct on (actor) actor, provider from ${source} f order by actor, f.id desc
    on conflict (domain_id) do update set provider = excluded.provider`,
};

const effects: Readonly<Record<'check' | 'chooseWay' | 'forgetKeys' | 'freePlace', EffectMeaning>> = {
  check: { order: true },
  chooseWay: {
    fact: chosen.name,
    rows: ({ provider }: { readonly provider: string | null }, _actor: Actor, at: number) => [
      { id: mintId('evt', at), provider },
    ],
  },
  forgetKeys: { fact: 'forgotten', rows: () => [{ gone: true }] },
  freePlace: { fact: givenBack.name, rows: () => [{ period: DOMAINS_PERIOD }] },
};

/** Sending domains as actors. Both environments share them; their rows count as live, since test mail needs none. */
export const domainKind: Kind = {
  name: 'domain',
  table: 'domains',
  idPrefix: 'dom',
  machine: domainMachine,
  version: DOMAIN_VERSION,
  derived: [],
  spawn: {
    columns: `name text, dkim_selector text, rsa_value text, ed25519_value text, return_path text,
    tracking_domain text, rsa_key text, ed25519_key text, provider text`,
    own: ['name', 'dkim_selector', 'rsa_value', 'ed25519_value', 'return_path', 'tracking_domain'],
    also: [
      (source) =>
        `insert into domain_keys (domain_id, rsa, ed25519) select id, rsa_key, ed25519_key from ${source}`,
      (source) =>
        `insert into domain_transports (domain_id, provider) select id, provider from ${source} where provider is not null`,
    ],
  },
  carried: [],
  facts: [forgotten, chosen, givenBack],
  journal: 'domain_journal',
  effects,
};

const sampleInput: DomainInput = {
  at: 0,
  exempt: false,
  records: [],
  openTracking: false,
  clickTracking: false,
};

/** The kind as the engine takes it, with what asks DNS. */
export const domains = (performer: Performer): Registration => ({ kind: domainKind, sampleInput, performer });
