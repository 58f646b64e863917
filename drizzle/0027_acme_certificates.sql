-- The certificate for HTTPS of each host and directory of an authority, with what its order needs (RFC 8555). All instances share
-- it: one holds the lease and orders, the others take what is there. Keys are sealed with SECRET_KEY.
create table acme_certificates (
  directory_url text collate "C" not null,
  host text collate "C" not null,
  account_key text,
  account_url text,
  -- The order under way and the key of its certificate, so that a process that dies leaves nothing to order again.
  order_url text,
  order_key text,
  -- What any instance answers to the authority's HTTP-01 request.
  challenge_token text,
  challenge_answer text,
  certificate text,
  certificate_key text,
  not_before timestamptz,
  not_after timestamptz,
  leased_by text,
  leased_until timestamptz,
  failures integer not null default 0,
  last_error text,
  next_try_at timestamptz,
  primary key (directory_url, host)
);
