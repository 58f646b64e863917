-- The transports that take over, in this order, while the chosen one of a domain is down.
alter table domain_transports add column fallbacks text[] not null default '{}'
  check (fallbacks <@ array['smtp', 'direct', 'ses']);
