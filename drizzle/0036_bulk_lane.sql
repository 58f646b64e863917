-- Emails of campaigns wait apart from those that somebody waits for: each instance claims as many of them as it has room for, and
-- counts how many wait until it gives out more.
alter table email_due add column is_bulk boolean not null default false;
create index email_due_bulk on email_due (wake_at) where is_bulk;
