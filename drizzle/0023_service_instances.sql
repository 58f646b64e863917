-- The processes of the service on this database, each with the roles that it has, written again every ten seconds while it lives.
-- Whoever leaves work to others, or asks whether there are others, reads it; nothing else depends on it.
create table service_instances (
  id text collate "C" primary key,
  roles text[] not null,
  seen_at timestamptz not null
) with (fillfactor = 50);
