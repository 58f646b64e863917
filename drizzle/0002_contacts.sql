-- People that a workspace writes to.

-- `email_key` is what addresses are compared by. The keys of names are lower case, made by the service: `lower()` depends on the
-- database's locale, and a search would find other people on another server.
create table contacts (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  id text collate "C" not null,
  email text not null,
  email_key text collate "C" not null,
  first_name text,
  last_name text,
  first_name_key text collate "C",
  last_name_key text collate "C",
  name_key text collate "C" generated always as (
    case when first_name_key is not null and last_name_key is not null then first_name_key || ' ' || last_name_key
      else coalesce(first_name_key, last_name_key) end
  ) stored,
  properties jsonb not null,
  status text not null check (status in ('subscribed', 'unsubscribed', 'bounced', 'complained')),
  unsubscribed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, livemode, id)
);
create unique index contacts_by_email on contacts (workspace_id, livemode, email_key);
create index contacts_by_name on contacts (workspace_id, livemode, name_key) where name_key is not null;
create index contacts_by_last_name on contacts (workspace_id, livemode, last_name_key)
  where first_name_key is not null and last_name_key is not null;
create index contacts_by_status on contacts (workspace_id, livemode, status, id) where status <> 'subscribed';
create index contacts_by_property on contacts using gin (properties jsonb_path_ops);
-- How many have a property is estimated by asking the values that ANALYZE has kept. Of a hundred of them a value that one contact in
-- sixty has is often in none, and the index is then thought to find nobody.
alter table contacts alter column properties set statistics 400;

-- What happened to a contact, and what the contact did. Rows of emails go with their emails; `subject` is the id of the audience,
-- import or run, or the name of a custom event. `position` orders what is no email's business without gaps, as in the event log.
create table contact_activity (
  contact_id text collate "C" not null,
  id text collate "C" not null,
  livemode boolean not null,
  type text not null check (
    type in (
      'created', 'imported', 'subscribed', 'unsubscribed', 'asked', 'joined', 'left', 'event',
      'sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'
    )
  ),
  at timestamptz not null,
  subject text,
  email_id text collate "C",
  campaign_id text collate "C",
  by_machine boolean not null default false,
  data json,
  position bigint not null default event_position(),
  primary key (contact_id, id)
);
create index contact_activity_by_position on contact_activity (position, id) where email_id is null;
-- Rows come in the order of time, so that a few pages of this index tell which part of the table is old.
create index contact_activity_by_age on contact_activity using brin (at);

-- Persons that are being forgotten: what is left to do outside of their own rows. The address is sealed. `below` is how far the
-- workspace's emails have been looked through, newest first; `waiting` are emails that still have to leave.
create table erasures (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  contact_id text collate "C" not null,
  sealed text not null,
  below text collate "C" not null,
  is_through boolean not null default false,
  waiting text[] not null default '{}',
  next_at timestamptz not null
);
create index erasures_by_next on erasures (next_at);
