import { CAMPAIGN_STATES, CAMPAIGN_VERSION, campaignMachine } from '../../../machines/campaign/machine.ts';
import { defineKind, type EffectMeanings, type FactTable } from '../../engine/machine/kind.ts';
import type { Performer } from '../../engine/runtime/performers.ts';
import type { Registration } from '../../engine/runtime/running-kind.ts';
import type { SettingsRow } from './settings.ts';

const saved: FactTable = {
  name: 'campaign_saved',
  columns: 'name text, audience_id text, template_id text, settings json, updated_at timestamptz',
  // Several changes of one commit: the last one holds.
  sql: (source) => `update campaign_settings t
    set name = s.name, audience_id = s.audience_id, template_id = s.template_id, settings = s.settings, updated_at = s.updated_at
    from (select distinct on (actor) f.* from ${source} f order by actor, f.updated_at desc) s where t.campaign_id = s.actor`,
};

const kept: FactTable = {
  name: 'campaign_kept',
  columns: 'content json',
  sql: (source) => `insert into campaign_contents (campaign_id, content, audience_id, links)
    select actor, content, case when (content ->> 'isStatic')::boolean then content ->> 'audienceId' end, content -> 'links'
    from ${source} s
    on conflict (campaign_id) do update
      set content = excluded.content, audience_id = excluded.audience_id, links = excluded.links`,
};

const effects: EffectMeanings<typeof campaignMachine> = {
  work: { order: true },
  saveSettings: { fact: saved.name, rows: ({ settings }) => [settings as SettingsRow] },
  saveContent: { fact: kept.name, rows: ({ content }) => [{ content }] },
};

export const campaignKind = defineKind({
  name: 'campaign',
  table: 'campaigns',
  idPrefix: 'cmp',
  machine: campaignMachine,
  states: CAMPAIGN_STATES,
  version: CAMPAIGN_VERSION,
  derived: [{ name: 'attempt', type: 'integer', of: ({ attempt }) => attempt }],
  spawn: {
    columns: 'name text, audience_id text, template_id text, settings json, updated_at timestamptz',
    insertColumns: [],
    insertInto: [
      (
        source,
      ) => `insert into campaign_settings (campaign_id, name, audience_id, template_id, settings, updated_at)
        select id, name, audience_id, template_id, settings, updated_at from ${source}`,
    ],
  },
  actorColumnsForFacts: [],
  facts: [saved, kept],
  children: [],
  journal: 'campaign_journal',
  effects,
});

/** The registration of the kind, with the performer that prepares campaigns and dispatches their emails. */
export const campaigns = (performer: Performer): Registration => ({ kind: campaignKind, performer });
