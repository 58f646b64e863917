-- Groups of contacts. A static one has its members here; a dynamic one is a filter, and its members are whom it matches. It is
-- followed once everybody whom the filter, as it is since `filter_since`, matched to begin with is known.
create table audiences (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  id text collate "C" not null,
  name text not null,
  description text,
  type text not null check (type in ('static', 'dynamic')),
  filter json,
  public boolean not null,
  confirm boolean not null,
  filter_since timestamptz not null default now(),
  is_followed boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, livemode, id),
  check ((type = 'dynamic') = (filter is not null))
);

-- `pending` until the person has confirmed, where the audience asks for that.
create table audience_members (
  audience_id text collate "C" not null,
  contact_id text collate "C" not null,
  state text not null check (state in ('pending', 'joined')),
  since timestamptz not null,
  primary key (audience_id, contact_id)
);
create index audience_members_by_contact on audience_members (contact_id, audience_id);

-- Whom the filters of dynamic audiences matched when they were last asked: who begins or ceases to match joins or leaves. Whoever
-- has never matched any has no row.
create table audience_matches (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  contact_id text collate "C" not null,
  audience_ids text[] collate "C" not null,
  primary key (workspace_id, livemode, contact_id)
);

-- How far the contacts of an environment have been asked, by their ids: `after` is empty before the first.
create table audience_walks (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  began_at timestamptz not null,
  after text collate "C" not null,
  next_at timestamptz not null,
  primary key (workspace_id, livemode)
);
create index audience_walks_by_next on audience_walks (next_at);
