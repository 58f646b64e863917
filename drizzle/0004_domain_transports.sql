-- By which way the mail of a domain leaves, where its owner has chosen one; null goes back to the default. Apart from the
-- domain, since a commit writes an actor's own row once, with its snapshot.
create table domain_transports (
  domain_id text collate "C" primary key,
  provider text check (provider in ('capture', 'smtp', 'direct', 'ses'))
);
