-- Logos are served by the hash of their content for as long as emails may show them: a new logo leaves the earlier ones in
-- place, and the workspace names the present one.
create table workspace_logos (
  workspace_id text collate "C" not null references workspaces (id),
  file text collate "C" not null,
  content bytea not null,
  created_at timestamptz not null,
  primary key (workspace_id, file)
);
create index workspace_logos_by_file on workspace_logos (file);
