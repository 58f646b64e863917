-- Several sets of DKIM keys of one domain: the one that signs, the one whose records are awaited, and those that have
-- signed before. The private halves of the latter are destroyed; the names of their records are still told, until these
-- may go from DNS.
alter table domain_keys
  add column selector text,
  add column rsa_value text,
  add column ed25519_value text,
  add column stage text not null default 'active' check (stage in ('active', 'pending', 'retired')),
  add column since timestamptz not null default now();
update domain_keys k set selector = d.dkim_selector, rsa_value = d.rsa_value, ed25519_value = d.ed25519_value
  from domains d where d.id = k.domain_id;
alter table domain_keys
  alter column selector set not null,
  alter column rsa_value set not null,
  alter column ed25519_value set not null,
  alter column stage drop default,
  alter column since drop default,
  alter column rsa drop not null,
  alter column ed25519 drop not null,
  add check ((stage = 'retired') = (rsa is null and ed25519 is null)),
  drop constraint domain_keys_pkey,
  add primary key (domain_id, selector);
-- Version 2 of the machine remembers a rotation that waits: that there is one at a time is its guard's affair.
update domains set context = (context::jsonb || '{"rotatingSince": null}')::json, machine_version = 2;

-- Not written any more. An instance of the version before still reads them while it is being replaced, so they stay for now.
alter table domains
  alter column dkim_selector drop not null,
  alter column rsa_value drop not null,
  alter column ed25519_value drop not null;
