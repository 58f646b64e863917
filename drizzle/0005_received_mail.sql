CREATE TABLE "inbound_routes" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"domain_id" text collate "C" NOT NULL,
	"domain_name" text collate "C" NOT NULL,
	"match_type" text NOT NULL,
	"local_part" text,
	"priority" integer NOT NULL,
	"action" text NOT NULL,
	"url" text,
	"spam" text NOT NULL,
	"sealed" text,
	"secret_prefix" text,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "inbound_routes_match_type_check" CHECK ("inbound_routes"."match_type" in ('exact', 'prefix', 'catchAll')),
	CONSTRAINT "inbound_routes_action_check" CHECK ("inbound_routes"."action" in ('webhook', 'keep')),
	CONSTRAINT "inbound_routes_spam_check" CHECK ("inbound_routes"."spam" in ('mark', 'refuse')),
	CONSTRAINT "inbound_routes_match_check" CHECK (("inbound_routes"."match_type" = 'catchAll') = ("inbound_routes"."local_part" is null)),
	CONSTRAINT "inbound_routes_target_check" CHECK (("inbound_routes"."action" = 'webhook') = ("inbound_routes"."url" is not null and "inbound_routes"."sealed" is not null))
);

CREATE TABLE "received" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"revision" integer NOT NULL,
	"machine_version" smallint NOT NULL,
	"timers" json,
	"wake_at" timestamp with time zone,
	"route_id" text collate "C" NOT NULL,
	"content_id" text collate "C" NOT NULL,
	"envelope_from" text NOT NULL,
	"recipient" text NOT NULL,
	"tag" text,
	"thread_id" text collate "C" NOT NULL,
	"email_id" text collate "C",
	"is_automatic" boolean NOT NULL,
	"address_keys" text[] NOT NULL,
	"summary" json NOT NULL,
	"authentication" json,
	"spam" json,
	"size" integer NOT NULL,
	CONSTRAINT "received_state_check" CHECK ("received"."state" in ('stored', 'posting', 'retrying', 'posted', 'kept', 'failed'))
);

CREATE TABLE "received_attempts" (
	"received_id" text collate "C" NOT NULL,
	"attempt" integer NOT NULL,
	"attempted_at" timestamp with time zone NOT NULL,
	"http_status" smallint NOT NULL,
	"response_body" text NOT NULL,
	"duration_ms" integer NOT NULL,
	"error" text,
	CONSTRAINT "received_attempts_pkey" PRIMARY KEY("received_id","attempt")
);

CREATE TABLE "received_contents" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"parsed" "bytea" NOT NULL,
	"raw" "bytea",
	"raw_key" text collate "C",
	CONSTRAINT "received_contents_raw_check" CHECK (("received_contents"."raw" is null) = ("received_contents"."raw_key" is not null))
);

CREATE TABLE "received_journal" (
	"actor_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	CONSTRAINT "received_journal_pkey" PRIMARY KEY("actor_id","revision")
);

CREATE INDEX "inbound_routes_by_domain" ON "inbound_routes" USING btree ("domain_name","livemode");
CREATE INDEX "inbound_routes_by_workspace" ON "inbound_routes" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST);
CREATE INDEX "received_by_workspace" ON "received" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST);
CREATE INDEX "received_by_thread" ON "received" USING btree ("workspace_id","livemode","thread_id","id" DESC NULLS FIRST);
CREATE INDEX "received_by_address" ON "received" USING gin ("address_keys");
CREATE INDEX "received_by_content" ON "received" USING btree ("content_id");
CREATE INDEX "received_by_wake_at" ON "received" USING btree ("wake_at") WHERE "received"."wake_at" is not null;
CREATE INDEX "received_contents_by_workspace" ON "received_contents" USING btree ("workspace_id","livemode","id");
CREATE INDEX "received_contents_by_key" ON "received_contents" USING btree ("workspace_id","raw_key") WHERE "received_contents"."raw_key" is not null;


-- The service has packed both: PostgreSQL need not try again.
ALTER TABLE "received_contents" ALTER COLUMN "parsed" SET STORAGE external, ALTER COLUMN "raw" SET STORAGE external;

-- The routes that an environment has, for the limit of their number: requests that create one come one behind the other.
create function inbound_routes_present(workspace text, environment boolean) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('inbound routes ' || workspace || ' ' || environment, 0));
  return (select count(*) from inbound_routes r where r.workspace_id = workspace and r.livemode = environment);
end $$;
