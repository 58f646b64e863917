-- Groups of contacts. A static one has its members here; a dynamic one is a filter, and its members are whom it matches.
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
