-- The last revision of an actor of which the admins of its workspace have been warned, so that they are warned once, also after a crash
-- between what happened and the email about it.
create table service_warnings (
  actor_id text collate "C" primary key,
  workspace_id text collate "C" not null,
  revision integer not null
);
