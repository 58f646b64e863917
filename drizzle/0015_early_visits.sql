-- Opens and clicks in the first minute of an email that has several links, until it is known whether a scanner makes them, which opens all
-- links at once. `links` is how many it has, three for more. A row that was judged tells for a while what its network is.
create table early_visits (
  id text collate "C" primary key,
  email_id text collate "C" not null,
  recipient integer not null,
  type text not null check (type in ('opened', 'clicked')),
  target text not null,
  links smallint not null,
  network text not null,
  user_agent text,
  seen_at timestamptz not null,
  claimed_at timestamptz,
  is_scanner boolean
);
create index early_visits_by_email on early_visits (email_id, recipient);
create index early_visits_by_time on early_visits (seen_at);
