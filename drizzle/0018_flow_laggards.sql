-- Workspaces that follow what contacts do by themselves, each at a place of its own, because a filter of theirs takes long: nobody else
-- waits for them. `size` is how many entries they take at once, `tries` how often a single one was given up, and they go on with
-- everybody else once they have caught up, not before `returns_at`.
create table flow_laggards (
  workspace_id text collate "C" primary key,
  position bigint not null,
  id text collate "C" not null,
  size integer not null,
  tries integer not null default 0,
  next_at timestamptz not null,
  returns_at timestamptz not null
);
