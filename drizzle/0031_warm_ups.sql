-- How the mail of a domain is warmed up on a transport: so many recipients a day from a day on, as a list of
-- {"provider", "startedAt", "perDay"}.
alter table domain_transports add column warm_ups json not null default '[]';

-- What was claimed of a day's allowance (UTC), of which campaigns may claim a part. Instances claim in blocks, each of which says in
-- `granted` what it got. What one has claimed and not sent it gives back when it stops; when it dies, that is lost for the day.
create table warm_up_days (
  domain_id text collate "C" not null,
  provider text not null check (provider in ('smtp', 'direct', 'ses')),
  day date not null,
  claimed integer not null,
  claimed_bulk integer not null,
  granted integer not null,
  primary key (domain_id, provider, day)
) with (fillfactor = 50);
