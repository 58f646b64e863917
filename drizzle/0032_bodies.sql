-- The bodies that lie outside (BODY_STORE), a row for each email that has one. A key begins with environment, day and workspace, so that
-- those of a workspace on a day are a range of this one. A row whose email has been removed stays until its body is collected.
create table email_bodies (
  workspace_id text collate "C" not null,
  key text collate "C" not null,
  email_id text collate "C" not null,
  primary key (workspace_id, key, email_id)
);
-- The days whose bodies were compared with the emails after their end, and the name by which the store knows this database.
create table body_collections (
  livemode boolean not null,
  day date not null,
  primary key (livemode, day)
);
create table body_store_owner (
  id text collate "C" primary key
);
