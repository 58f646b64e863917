-- What the statuses of a file came to: contacts that it took down, contacts that stay out, and new ones that are not subscribed.
alter table contact_import_counts add column lowered integer not null default 0;
alter table contact_import_counts add column kept_out integer not null default 0;
alter table contact_import_counts add column added_out integer not null default 0;
