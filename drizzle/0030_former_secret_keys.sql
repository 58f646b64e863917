-- Keys that this database was used with before the one of its canary, each sealed with the key that came after it, or with a later
-- one. They open what is still sealed with them, and prove the links of earlier emails; the first of them is what the addresses of
-- forgotten people are hashed with. `resealed_at` is when nothing was left that a key had sealed: until then its rotation goes on.
create table former_secret_keys (
  id text collate "C" primary key,
  sealed text not null,
  replaced_at timestamptz not null,
  resealed_at timestamptz,
  links_revoked_at timestamptz
);

-- The keys that an instance can open texts with, and the one that it seals with: a rotation waits for all that live. Null for a
-- version that knows of no rotation.
alter table service_instances add column secret_keys text[];
alter table service_instances add column seals_with text collate "C";
