-- Whose email of a campaign has ended without anyone knowing whether it arrived: some of those that count as failed.
alter table campaign_tallies add column in_doubt integer not null default 0;

-- Before each attempt of an email whose contact is not there it is asked whether that was forgotten: as long as an email to it is open,
-- its erasure is under way.
create index erasures_by_contact on erasures (contact_id);
