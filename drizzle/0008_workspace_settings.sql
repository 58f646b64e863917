-- What a workspace says of itself. Null where nothing has been set.

alter table workspaces
  drop column settings,
  add column default_from text,
  add column default_reply_to text,
  add column logo_url text,
  add column colour text,
  add column address text,
  add column website text,
  add column time_zone text not null default 'UTC';
