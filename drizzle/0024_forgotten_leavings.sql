CREATE TABLE "forgotten_leavings" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"audience_id" text collate "C" NOT NULL,
	"left_at" timestamp with time zone NOT NULL,
	CONSTRAINT "forgotten_leavings_pkey" PRIMARY KEY("workspace_id","livemode","address_hash","audience_id")
);

CREATE INDEX "forgotten_leavings_by_audience" ON "forgotten_leavings" USING btree ("audience_id");

-- Each query of these functions has a snapshot that is newer than the caller's: the caller may have waited for a statement that left an
-- audience, or that forgot the same address.

-- Stores the audiences that a contact has left by itself, in place of those that were stored before. The contact is deleted before.
create function remember_leavings(workspace text, environment boolean, contact text, hash text) returns void
language plpgsql volatile as $$
begin
  delete from forgotten_leavings f
  where f.workspace_id = workspace and f.livemode = environment and f.address_hash = hash;
  insert into forgotten_leavings (workspace_id, livemode, address_hash, audience_id, left_at)
  select workspace, environment, hash, u.id, latest.at from (
    select distinct on (e.subject) e.subject, e.type, e.data, e.at from contact_activity e
    where e.contact_id = contact and e.type in ('joined', 'left')
    order by e.subject, e.position desc, e.id desc
  ) latest join audiences u on u.workspace_id = workspace and u.livemode = environment and u.id = latest.subject
  where latest.type = 'left' and coalesce(latest.data ->> 'source', latest.data ->> 'campaignId') is not null;
end $$;

-- The audiences that forgotten people with these hashes had left.
create function leavings_of(workspace text, environment boolean, hashes text[])
returns table (address_hash text, audience_id text, left_at timestamptz)
language plpgsql volatile rows 100 as $$
begin
  return query select f.address_hash::text, f.audience_id::text, f.left_at from forgotten_leavings f
  where f.workspace_id = workspace and f.livemode = environment and f.address_hash = any(hashes collate "C");
end $$;
