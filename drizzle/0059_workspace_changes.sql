-- When the settings of a workspace were changed last, by which a change is refused that was decided on earlier ones. Null: never.
alter table workspaces add column updated_at timestamptz;
