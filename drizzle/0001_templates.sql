-- Templates belong to one environment. `version` is the one that is sent, `latest` the newest, which may be a draft; `revision`
-- goes up with every change, so that two changes at once are seen.
create table templates (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  livemode boolean not null,
  name text not null,
  alias text collate "C",
  version integer not null,
  latest integer not null,
  revision integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index templates_by_alias on templates (workspace_id, livemode, alias) where alias is not null;
create index templates_by_workspace on templates (workspace_id, livemode, id desc);

-- What a template says. A version is written once and never changed.
create table template_versions (
  template_id text collate "C" not null references templates (id) on delete cascade,
  version integer not null,
  content json not null,
  created_at timestamptz not null,
  primary key (template_id, version)
);
do $$
begin
  alter table template_versions alter column content set compression lz4;
exception when feature_not_supported then
  null;
end $$;
