CREATE TABLE "accounts" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"name" text NOT NULL,
	"password" text,
	"totp" text,
	"totp_confirmed_at" timestamp with time zone,
	"totp_step" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"totp_told" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "accounts_email_key_key" UNIQUE("email_key")
);

CREATE TABLE "audit_log" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"actor_type" text NOT NULL,
	"actor_id" text collate "C",
	"actor_name" text,
	"action" text collate "C" NOT NULL,
	"target_id" text,
	"details" json NOT NULL,
	"request_id" text collate "C",
	CONSTRAINT "audit_log_actor_type_check" CHECK ("audit_log"."actor_type" in ('member', 'apiKey', 'operator', 'system'))
);

CREATE TABLE "browser_sessions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"hash" text collate "C" NOT NULL,
	"kind" text NOT NULL,
	"subject_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"user_agent" text NOT NULL,
	"client" text NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "browser_sessions_hash_key" UNIQUE("hash"),
	CONSTRAINT "browser_sessions_kind_check" CHECK ("browser_sessions"."kind" in ('key', 'operatorLink', 'account'))
);

CREATE TABLE "invitations" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"role" text NOT NULL,
	"invited_by" text NOT NULL,
	"hash" text collate "C" NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"accepted_at" timestamp with time zone,
	CONSTRAINT "invitations_hash_key" UNIQUE("hash"),
	CONSTRAINT "invitations_role_check" CHECK ("invitations"."role" in ('owner', 'admin', 'member', 'viewer'))
);

CREATE TABLE "members" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"role" text NOT NULL,
	"joined_at" timestamp with time zone NOT NULL,
	"last_seen_at" timestamp with time zone,
	CONSTRAINT "members_workspace_id_account_id_key" UNIQUE("workspace_id","account_id"),
	CONSTRAINT "members_role_check" CHECK ("members"."role" in ('owner', 'admin', 'member', 'viewer'))
);

CREATE TABLE "one_time_tokens" (
	"hash" text collate "C" PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"subject" json NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
);

CREATE TABLE "passkeys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"credential" text collate "C" NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"name" text NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"transports" json NOT NULL,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "passkeys_credential_key" UNIQUE("credential")
);

CREATE TABLE "recovery_codes" (
	"account_id" text collate "C" NOT NULL,
	"hash" text collate "C" NOT NULL,
	"used_at" timestamp with time zone,
	CONSTRAINT "recovery_codes_pkey" PRIMARY KEY("account_id","hash")
);

CREATE TABLE "analytics" (
	"workspace_id" text collate "C" NOT NULL,
	"scope" text collate "C" NOT NULL,
	"quarter" timestamp with time zone NOT NULL,
	"accepted" integer NOT NULL,
	"sent" integer NOT NULL,
	"delivered" integer NOT NULL,
	"opened" integer NOT NULL,
	"clicked" integer NOT NULL,
	"bounced" integer NOT NULL,
	"complained" integer NOT NULL,
	"unsubscribed" integer NOT NULL,
	"machine_opened" integer NOT NULL,
	"machine_clicked" integer NOT NULL,
	"sent_of_accepted" integer NOT NULL,
	"delivered_of_accepted" integer NOT NULL,
	"opened_of_accepted" integer NOT NULL,
	"clicked_of_accepted" integer NOT NULL,
	"bounced_of_accepted" integer NOT NULL,
	"complained_of_accepted" integer NOT NULL,
	"unsubscribed_of_accepted" integer NOT NULL,
	"machine_opened_of_accepted" integer NOT NULL,
	"machine_clicked_of_accepted" integer NOT NULL,
	"reached_delivered" integer NOT NULL,
	"reached_opened" integer NOT NULL,
	"reached_clicked" integer NOT NULL,
	"reached_bounced" integer NOT NULL,
	CONSTRAINT "analytics_pkey" PRIMARY KEY("workspace_id","scope","quarter")
);

CREATE TABLE "analytics_cursors" (
	"workspace_id" text collate "C" PRIMARY KEY NOT NULL,
	"accepted" bigint NOT NULL,
	"events" bigint NOT NULL
);

CREATE TABLE "analytics_hours" (
	"workspace_id" text collate "C" NOT NULL,
	"scope" text collate "C" NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"accepted" integer NOT NULL,
	"sent" integer NOT NULL,
	"delivered" integer NOT NULL,
	"opened" integer NOT NULL,
	"clicked" integer NOT NULL,
	"bounced" integer NOT NULL,
	"complained" integer NOT NULL,
	"unsubscribed" integer NOT NULL,
	"machine_opened" integer NOT NULL,
	"machine_clicked" integer NOT NULL,
	"sent_of_accepted" integer NOT NULL,
	"delivered_of_accepted" integer NOT NULL,
	"opened_of_accepted" integer NOT NULL,
	"clicked_of_accepted" integer NOT NULL,
	"bounced_of_accepted" integer NOT NULL,
	"complained_of_accepted" integer NOT NULL,
	"unsubscribed_of_accepted" integer NOT NULL,
	"machine_opened_of_accepted" integer NOT NULL,
	"machine_clicked_of_accepted" integer NOT NULL,
	"reached_delivered" integer NOT NULL,
	"reached_opened" integer NOT NULL,
	"reached_clicked" integer NOT NULL,
	"reached_bounced" integer NOT NULL,
	CONSTRAINT "analytics_hours_pkey" PRIMARY KEY("workspace_id","scope","hour")
);

CREATE TABLE "analytics_tags" (
	"workspace_id" text collate "C" NOT NULL,
	"tag" text collate "C" NOT NULL,
	CONSTRAINT "analytics_tags_pkey" PRIMARY KEY("workspace_id","tag")
);

CREATE TABLE "audience_matches" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"contact_id" text collate "C" NOT NULL,
	"audience_ids" text[] NOT NULL,
	CONSTRAINT "audience_matches_pkey" PRIMARY KEY("workspace_id","livemode","contact_id")
);

CREATE TABLE "audience_members" (
	"audience_id" text collate "C" NOT NULL,
	"contact_id" text collate "C" NOT NULL,
	"state" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	CONSTRAINT "audience_members_pkey" PRIMARY KEY("audience_id","contact_id"),
	CONSTRAINT "audience_members_state_check" CHECK ("audience_members"."state" in ('pending', 'joined'))
);

CREATE TABLE "audience_walks" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"began_at" timestamp with time zone NOT NULL,
	"after" text collate "C" NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	CONSTRAINT "audience_walks_pkey" PRIMARY KEY("workspace_id","livemode")
);

CREATE TABLE "audiences" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text collate "C" NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"type" text NOT NULL,
	"filter" json,
	"public" boolean NOT NULL,
	"confirm" boolean NOT NULL,
	"filter_since" timestamp with time zone DEFAULT now() NOT NULL,
	"is_followed" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "audiences_pkey" PRIMARY KEY("workspace_id","livemode","id"),
	CONSTRAINT "audiences_type_check" CHECK ("audiences"."type" in ('static', 'dynamic')),
	CONSTRAINT "audiences_check" CHECK (("audiences"."type" = 'dynamic') = ("audiences"."filter" is not null))
);

CREATE TABLE "confirmations" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"audience_id" text collate "C" NOT NULL,
	"contact_id" text collate "C" NOT NULL,
	"asked_at" timestamp with time zone NOT NULL,
	"next_at" timestamp with time zone NOT NULL
);

CREATE TABLE "campaign_clicks" (
	"campaign_id" text collate "C" NOT NULL,
	"link" integer NOT NULL,
	"contact_id" text collate "C" NOT NULL,
	"clicks" integer NOT NULL,
	CONSTRAINT "campaign_clicks_pkey" PRIMARY KEY("campaign_id","link","contact_id")
);

CREATE TABLE "campaign_contents" (
	"campaign_id" text collate "C" PRIMARY KEY NOT NULL,
	"content" json NOT NULL,
	"audience_id" text collate "C",
	"links" json NOT NULL
);

CREATE TABLE "campaign_journal" (
	"actor_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	CONSTRAINT "campaign_journal_pkey" PRIMARY KEY("actor_id","revision")
);

CREATE TABLE "campaign_recipients" (
	"campaign_id" text collate "C" NOT NULL,
	"contact_id" text collate "C" NOT NULL,
	"address_hash" uuid,
	"state" text NOT NULL,
	"reason" text,
	"email_id" text collate "C",
	"opened_at" timestamp with time zone,
	"clicked_at" timestamp with time zone,
	"bounced_at" timestamp with time zone,
	"complained_at" timestamp with time zone,
	"unsubscribed_at" timestamp with time zone,
	CONSTRAINT "campaign_recipients_pkey" PRIMARY KEY("campaign_id","contact_id"),
	CONSTRAINT "campaign_recipients_state_check" CHECK ("campaign_recipients"."state" in ('waiting', 'sent', 'failed', 'skipped'))
);

CREATE TABLE "campaign_settings" (
	"campaign_id" text collate "C" PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"audience_id" text collate "C" NOT NULL,
	"template_id" text collate "C",
	"settings" json NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);

CREATE TABLE "campaign_tallies" (
	"campaign_id" text collate "C" NOT NULL,
	"total" integer DEFAULT 0 NOT NULL,
	"remaining" integer DEFAULT 0 NOT NULL,
	"sent" integer DEFAULT 0 NOT NULL,
	"skipped" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"delivered" integer DEFAULT 0 NOT NULL,
	"opens" integer DEFAULT 0 NOT NULL,
	"unique_opens" integer DEFAULT 0 NOT NULL,
	"machine_opens" integer DEFAULT 0 NOT NULL,
	"clicks" integer DEFAULT 0 NOT NULL,
	"unique_clicks" integer DEFAULT 0 NOT NULL,
	"machine_clicks" integer DEFAULT 0 NOT NULL,
	"bounced_permanent" integer DEFAULT 0 NOT NULL,
	"bounced_transient" integer DEFAULT 0 NOT NULL,
	"complained" integer DEFAULT 0 NOT NULL,
	"unsubscribed" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone,
	"in_doubt" integer DEFAULT 0 NOT NULL
);

CREATE TABLE "campaigns" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"revision" integer NOT NULL,
	"machine_version" smallint NOT NULL,
	"timers" json,
	"wake_at" timestamp with time zone,
	"attempt" integer NOT NULL,
	CONSTRAINT "campaigns_state_check" CHECK ("campaigns"."state" in ('draft', 'scheduled', 'preparing', 'sending', 'paused', 'sent', 'cancelled', 'failed', 'deleted'))
);

CREATE TABLE "contact_activity" (
	"contact_id" text collate "C" NOT NULL,
	"id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"type" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"subject" text,
	"email_id" text collate "C",
	"campaign_id" text collate "C",
	"by_machine" boolean DEFAULT false NOT NULL,
	"data" json,
	"position" bigint NOT NULL,
	"test_clock_id" text collate "C",
	"awaits_clock" boolean DEFAULT false NOT NULL,
	CONSTRAINT "contact_activity_pkey" PRIMARY KEY("contact_id","id"),
	CONSTRAINT "contact_activity_type_check" CHECK ("contact_activity"."type" in ('created', 'imported', 'subscribed', 'unsubscribed', 'asked', 'notAsked', 'joined', 'left', 'event', 'sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'))
);

CREATE TABLE "contacts" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text collate "C" NOT NULL,
	"email" text NOT NULL,
	"email_key" text collate "C" NOT NULL,
	"first_name" text,
	"last_name" text,
	"first_name_key" text collate "C",
	"last_name_key" text collate "C",
	"name_key" text collate "C" GENERATED ALWAYS AS (case when first_name_key is not null and last_name_key is not null then first_name_key || ' ' || last_name_key else coalesce(first_name_key, last_name_key) end) STORED,
	"properties" jsonb NOT NULL,
	"status" text NOT NULL,
	"unsubscribed_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"asked_at" timestamp with time zone[],
	CONSTRAINT "contacts_pkey" PRIMARY KEY("workspace_id","livemode","id"),
	CONSTRAINT "contacts_status_check" CHECK ("contacts"."status" in ('subscribed', 'unsubscribed', 'bounced', 'complained'))
);

CREATE TABLE "erasures" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"contact_id" text collate "C" NOT NULL,
	"sealed" text NOT NULL,
	"below" text collate "C" NOT NULL,
	"is_through" boolean DEFAULT false NOT NULL,
	"waiting" text[] DEFAULT '{}' NOT NULL,
	"next_at" timestamp with time zone NOT NULL
);

CREATE TABLE "domain_journal" (
	"actor_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	CONSTRAINT "domain_journal_pkey" PRIMARY KEY("actor_id","revision")
);

CREATE TABLE "domain_keys" (
	"domain_id" text collate "C" NOT NULL,
	"selector" text NOT NULL,
	"stage" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"rsa_value" text NOT NULL,
	"ed25519_value" text NOT NULL,
	"rsa" text,
	"ed25519" text,
	CONSTRAINT "domain_keys_pkey" PRIMARY KEY("domain_id","selector"),
	CONSTRAINT "domain_keys_stage_check" CHECK ("domain_keys"."stage" in ('active', 'pending', 'retired')),
	CONSTRAINT "domain_keys_check" CHECK (("domain_keys"."stage" = 'retired') = ("domain_keys"."rsa" is null and "domain_keys"."ed25519" is null))
);

CREATE TABLE "domain_transports" (
	"domain_id" text collate "C" PRIMARY KEY NOT NULL,
	"provider" text,
	"fallbacks" text[] DEFAULT '{}' NOT NULL,
	"warm_ups" json DEFAULT '[]'::json NOT NULL,
	CONSTRAINT "domain_transports_provider_check" CHECK ("domain_transports"."provider" in ('capture', 'smtp', 'direct', 'ses')),
	CONSTRAINT "domain_transports_fallbacks_check" CHECK ("domain_transports"."fallbacks" <@ array['smtp', 'direct', 'ses'])
);

CREATE TABLE "domains" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"revision" integer NOT NULL,
	"machine_version" smallint NOT NULL,
	"timers" json,
	"wake_at" timestamp with time zone,
	"name" text collate "C" NOT NULL,
	"return_path" text NOT NULL,
	"tracking_domain" text,
	CONSTRAINT "domains_state_check" CHECK ("domains"."state" in ('pending', 'verified', 'failed', 'temporaryFailure', 'removed'))
);

CREATE TABLE "warm_up_days" (
	"domain_id" text collate "C" NOT NULL,
	"provider" text NOT NULL,
	"day" date NOT NULL,
	"claimed" integer NOT NULL,
	"claimed_bulk" integer NOT NULL,
	"granted" integer NOT NULL,
	CONSTRAINT "warm_up_days_pkey" PRIMARY KEY("domain_id","provider","day"),
	CONSTRAINT "warm_up_days_provider_check" CHECK ("warm_up_days"."provider" in ('smtp', 'direct', 'ses'))
);

CREATE TABLE "email_due" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"wake_at" timestamp with time zone NOT NULL,
	"is_bulk" boolean DEFAULT false NOT NULL
);

CREATE TABLE "email_turns" (
	"email_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"timers" json,
	"machine_version" smallint NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"last_event" text,
	"failure_reason" text,
	"scheduled_at" timestamp with time zone,
	"sent_at" timestamp with time zone,
	"delivered_at" timestamp with time zone,
	"recorded" json,
	"noted" json,
	"position" bigint,
	CONSTRAINT "email_turns_pkey" PRIMARY KEY("email_id","revision"),
	CONSTRAINT "email_turns_state_check" CHECK ("email_turns"."state" in ('scheduled', 'queued', 'sending', 'deferred', 'sent', 'delivered', 'failed', 'cancelled'))
) PARTITION BY RANGE ("email_id");

CREATE TABLE "emails" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"timers" json,
	"machine_version" smallint NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"scheduled_at" timestamp with time zone,
	"recipients" text[] NOT NULL,
	"recipient_keys" text[] NOT NULL,
	"sender_key" text NOT NULL,
	"subject" text NOT NULL,
	"tags" text[] NOT NULL,
	"domain_id" text collate "C",
	"template_id" text collate "C",
	"campaign_id" text collate "C",
	"envelope" json NOT NULL,
	"kept_by" integer,
	"content" "bytea" NOT NULL,
	"position" bigint,
	"test_clock_id" text collate "C",
	CONSTRAINT "emails_state_check" CHECK ("emails"."state" in ('scheduled', 'queued', 'sending', 'deferred', 'sent', 'delivered', 'failed', 'cancelled'))
) PARTITION BY RANGE ("id");

CREATE TABLE "event_log" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"base" bigint NOT NULL,
	"cluster" text,
	CONSTRAINT "event_log_one_check" CHECK ("event_log"."one")
);

CREATE TABLE "flow_entrants" (
	"flow_id" text collate "C" NOT NULL,
	"contact_id" text collate "C" NOT NULL,
	CONSTRAINT "flow_entrants_pkey" PRIMARY KEY("flow_id","contact_id")
);

CREATE TABLE "flow_feed" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"position" bigint DEFAULT 0 NOT NULL,
	"id" text collate "C" DEFAULT '' NOT NULL,
	"follower" text,
	"followed_until" timestamp with time zone,
	CONSTRAINT "flow_feed_one_check" CHECK ("flow_feed"."one")
);

CREATE TABLE "flow_laggards" (
	"workspace_id" text collate "C" PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"id" text collate "C" NOT NULL,
	"size" integer NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"returns_at" timestamp with time zone NOT NULL
);

CREATE TABLE "flow_run_journal" (
	"actor_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	CONSTRAINT "flow_run_journal_pkey" PRIMARY KEY("actor_id","revision")
);

CREATE TABLE "flow_run_log" (
	"run_id" text collate "C" NOT NULL,
	"visit" integer NOT NULL,
	"flow_id" text collate "C" NOT NULL,
	"step" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"outcome" text NOT NULL,
	"email_id" text collate "C",
	CONSTRAINT "flow_run_log_pkey" PRIMARY KEY("run_id","visit")
);

CREATE TABLE "flow_runs" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"revision" integer NOT NULL,
	"machine_version" smallint NOT NULL,
	"timers" json,
	"wake_at" timestamp with time zone,
	"definition_id" text collate "C",
	"status" text NOT NULL,
	"step" text,
	"awaits" text,
	"ended_at" timestamp with time zone,
	"started_at" timestamp with time zone NOT NULL,
	"flow_id" text collate "C" NOT NULL,
	"flow_version" integer NOT NULL,
	"contact_id" text collate "C" NOT NULL,
	"occurrence_key" text collate "C" NOT NULL,
	"is_watched" boolean NOT NULL,
	"test_clock_id" text collate "C",
	"clock_started_at" timestamp with time zone,
	CONSTRAINT "flow_runs_status_check" CHECK ("flow_runs"."status" in ('running', 'waiting', 'completed', 'exited', 'failed', 'cancelled'))
);

CREATE TABLE "flow_tallies" (
	"flow_id" text collate "C" NOT NULL,
	"step" text collate "C" NOT NULL,
	"outcome" text collate "C" NOT NULL,
	"count" integer NOT NULL
);

CREATE TABLE "flow_versions" (
	"flow_id" text collate "C" NOT NULL,
	"version" integer NOT NULL,
	"definition" json NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"published_at" timestamp with time zone,
	CONSTRAINT "flow_versions_pkey" PRIMARY KEY("flow_id","version")
);

CREATE TABLE "flow_webhook_secrets" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"sealed" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "flow_webhook_secrets_pkey" PRIMARY KEY("workspace_id","livemode")
);

CREATE TABLE "flows" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text collate "C" NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"is_held" boolean DEFAULT false NOT NULL,
	"version" integer NOT NULL,
	"published_version" integer,
	"trigger_type" text,
	"listens_to" text,
	"since_position" bigint DEFAULT 0 NOT NULL,
	"scanned_to" timestamp with time zone,
	"cancels_before" timestamp with time zone,
	"deleted_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "flows_pkey" PRIMARY KEY("workspace_id","livemode","id"),
	CONSTRAINT "flows_status_check" CHECK ("flows"."status" in ('draft', 'active', 'paused'))
);

CREATE TABLE "contact_import_chunks" (
	"import_id" text collate "C" NOT NULL,
	"n" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "contact_import_chunks_pkey" PRIMARY KEY("import_id","n")
);

CREATE TABLE "contact_import_counts" (
	"import_id" text collate "C" PRIMARY KEY NOT NULL,
	"total" integer NOT NULL,
	"created" integer NOT NULL,
	"updated" integer NOT NULL,
	"skipped" integer NOT NULL,
	"failed" integer NOT NULL,
	"first_faults" jsonb NOT NULL,
	"lowered" integer DEFAULT 0 NOT NULL,
	"kept_out" integer DEFAULT 0 NOT NULL,
	"added_out" integer DEFAULT 0 NOT NULL
);

CREATE TABLE "contact_import_faults" (
	"import_id" text collate "C" NOT NULL,
	"from_offset" bigint NOT NULL,
	"faults" json NOT NULL,
	CONSTRAINT "contact_import_faults_pkey" PRIMARY KEY("import_id","from_offset")
);

CREATE TABLE "contact_import_journal" (
	"actor_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	CONSTRAINT "contact_import_journal_pkey" PRIMARY KEY("actor_id","revision")
);

CREATE TABLE "contact_import_seen" (
	"import_id" text collate "C" NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	CONSTRAINT "contact_import_seen_pkey" PRIMARY KEY("import_id","address_hash")
);

CREATE TABLE "contact_imports" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"revision" integer NOT NULL,
	"machine_version" smallint NOT NULL,
	"timers" json,
	"wake_at" timestamp with time zone,
	"settings" json NOT NULL,
	"merges" boolean NOT NULL,
	"audience_id" text collate "C",
	"trigger_flows" boolean NOT NULL,
	CONSTRAINT "contact_imports_state_check" CHECK ("contact_imports"."state" in ('queued', 'checking', 'processing', 'completed', 'failed', 'cancelled'))
);

CREATE TABLE "body_collections" (
	"livemode" boolean NOT NULL,
	"day" date NOT NULL,
	CONSTRAINT "body_collections_pkey" PRIMARY KEY("livemode","day")
);

CREATE TABLE "body_store_owner" (
	"id" text collate "C" PRIMARY KEY NOT NULL
);

CREATE TABLE "captured" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"email_id" text collate "C" NOT NULL,
	"recipient" text NOT NULL,
	"return_path" text NOT NULL,
	"raw" "bytea" NOT NULL,
	"size" integer,
	CONSTRAINT "captured_email_id_recipient_key" UNIQUE("email_id","recipient")
);

CREATE TABLE "early_visits" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"email_id" text collate "C" NOT NULL,
	"recipient" integer NOT NULL,
	"type" text NOT NULL,
	"target" text NOT NULL,
	"links" smallint NOT NULL,
	"network" text NOT NULL,
	"user_agent" text,
	"seen_at" timestamp with time zone NOT NULL,
	"claimed_at" timestamp with time zone,
	"is_scanner" boolean,
	CONSTRAINT "early_visits_type_check" CHECK ("early_visits"."type" in ('opened', 'clicked'))
);

CREATE TABLE "email_bodies" (
	"workspace_id" text collate "C" NOT NULL,
	"key" text collate "C" NOT NULL,
	"email_id" text collate "C" NOT NULL,
	CONSTRAINT "email_bodies_pkey" PRIMARY KEY("workspace_id","key","email_id")
);

CREATE TABLE "learned_limits" (
	"transport" text NOT NULL,
	"server" text collate "C" NOT NULL,
	"limits" json NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "learned_limits_pkey" PRIMARY KEY("transport","server"),
	CONSTRAINT "learned_limits_transport_check" CHECK ("learned_limits"."transport" in ('smtp', 'direct'))
);

CREATE TABLE "message_ids" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"message_id" text collate "C" NOT NULL,
	"email_id" text collate "C" NOT NULL,
	"until" timestamp with time zone NOT NULL,
	CONSTRAINT "message_ids_pkey" PRIMARY KEY("workspace_id","livemode","message_id")
);

CREATE TABLE "report_requests" (
	"workspace_id" text collate "C" NOT NULL,
	"email_id" text collate "C" NOT NULL,
	"recipient" integer NOT NULL,
	"asked_at" timestamp with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"is_success_told" boolean DEFAULT false NOT NULL,
	CONSTRAINT "report_requests_pkey" PRIMARY KEY("email_id","recipient")
);

CREATE TABLE "ses_removals" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL,
	"attempts" integer NOT NULL,
	"next_at" timestamp with time zone NOT NULL
);

CREATE TABLE "suppressions" (
	"workspace_id" text collate "C" NOT NULL,
	"address_key" text collate "C" NOT NULL,
	"address" text,
	"reason" text NOT NULL,
	"email_id" text collate "C",
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "suppressions_pkey" PRIMARY KEY("workspace_id","address_key"),
	CONSTRAINT "suppressions_reason_check" CHECK ("suppressions"."reason" in ('bounced', 'complained', 'unsubscribed', 'manual'))
);

CREATE TABLE "acme_certificates" (
	"directory_url" text collate "C" NOT NULL,
	"host" text collate "C" NOT NULL,
	"account_key" text,
	"account_url" text,
	"order_url" text,
	"order_key" text,
	"challenge_token" text,
	"challenge_answer" text,
	"certificate" text,
	"certificate_key" text,
	"not_before" timestamp with time zone,
	"not_after" timestamp with time zone,
	"leased_by" text,
	"leased_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"next_try_at" timestamp with time zone,
	CONSTRAINT "acme_certificates_pkey" PRIMARY KEY("directory_url","host")
);

CREATE TABLE "actor_outbox" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"to_kind" text NOT NULL,
	"to_id" text collate "C" NOT NULL,
	"event" json NOT NULL
);

CREATE TABLE "former_secret_keys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL,
	"replaced_at" timestamp with time zone NOT NULL,
	"resealed_at" timestamp with time zone,
	"links_revoked_at" timestamp with time zone
);

CREATE TABLE "idempotency_keys" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"key" text collate "C" NOT NULL,
	"fingerprint" text NOT NULL,
	"status" smallint NOT NULL,
	"reply" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"item" smallint DEFAULT -1 NOT NULL,
	CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY("workspace_id","livemode","key","item")
);

CREATE TABLE "instances" (
	"id" integer NOT NULL,
	"kind" text NOT NULL,
	"open" boolean NOT NULL,
	"heartbeat_at" timestamp with time zone NOT NULL,
	"low_water" text collate "C" NOT NULL,
	CONSTRAINT "instances_pkey" PRIMARY KEY("id","open")
);

CREATE TABLE "last_run" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "last_run_one_check" CHECK ("last_run"."one")
);

CREATE TABLE "live_news" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"instance_id" text collate "C" NOT NULL,
	"number" integer NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"news" json NOT NULL,
	CONSTRAINT "live_news_pkey" PRIMARY KEY("workspace_id","livemode","instance_id","number")
);

CREATE TABLE "live_watches" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"instance_id" text collate "C" NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone NOT NULL,
	CONSTRAINT "live_watches_pkey" PRIMARY KEY("workspace_id","livemode","instance_id")
);

CREATE TABLE "retention" (
	"livemode" boolean PRIMARY KEY NOT NULL,
	"removed_before" timestamp with time zone NOT NULL
);

CREATE TABLE "secret_key_canary" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"sealed" text NOT NULL,
	CONSTRAINT "secret_key_canary_one_check" CHECK ("secret_key_canary"."one")
);

CREATE TABLE "service_email_readers" (
	"reader" text collate "C" PRIMARY KEY NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"mails" integer NOT NULL
);

CREATE TABLE "service_emails" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C",
	"sealed" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);

CREATE TABLE "service_instances" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"roles" text[] NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"secret_keys" text[],
	"seals_with" text collate "C",
	"version" text collate "C",
	"started_at" timestamp with time zone
);

CREATE TABLE "service_warnings" (
	"actor_id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL
);

CREATE TABLE "test_clock_contacts" (
	"contact_id" text collate "C" PRIMARY KEY NOT NULL,
	"test_clock_id" text collate "C" NOT NULL
);

CREATE TABLE "test_clocks" (
	"workspace_id" text collate "C" NOT NULL,
	"id" text collate "C" NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"now_at" timestamp with time zone NOT NULL,
	"target_at" timestamp with time zone NOT NULL,
	"emails" integer DEFAULT 0 NOT NULL,
	"entered_at" timestamp with time zone,
	"leased_by" text,
	"leased_until" timestamp with time zone,
	"contacts" integer DEFAULT 0 NOT NULL,
	"runs" integer DEFAULT 0 NOT NULL,
	"runs_refused" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "test_clocks_pkey" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "test_clocks_status_check" CHECK ("test_clocks"."status" in ('ready', 'advancing'))
);

CREATE TABLE "template_versions" (
	"template_id" text collate "C" NOT NULL,
	"version" integer NOT NULL,
	"content" json NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "template_versions_pkey" PRIMARY KEY("template_id","version")
);

CREATE TABLE "templates" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"name" text NOT NULL,
	"alias" text collate "C",
	"version" integer NOT NULL,
	"latest" integer NOT NULL,
	"revision" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);

CREATE TABLE "webhook_attempts" (
	"delivery_id" text collate "C" NOT NULL,
	"attempt" integer NOT NULL,
	"attempted_at" timestamp with time zone NOT NULL,
	"http_status" smallint NOT NULL,
	"response_body" text NOT NULL,
	"duration_ms" integer NOT NULL,
	"error" text,
	CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY("delivery_id","attempt")
);

CREATE TABLE "webhook_deliveries" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"revision" integer NOT NULL,
	"machine_version" smallint NOT NULL,
	"timers" json,
	"wake_at" timestamp with time zone,
	"webhook_id" text collate "C" NOT NULL,
	"event_id" text collate "C" NOT NULL,
	"event_type" text NOT NULL,
	"email_id" text collate "C" NOT NULL,
	"event" json,
	"test_clock_id" text collate "C",
	"kept_by" integer,
	CONSTRAINT "webhook_deliveries_state_check" CHECK ("webhook_deliveries"."state" in ('queued', 'posting', 'scheduled', 'success', 'failed'))
);

CREATE TABLE "webhook_delivery_journal" (
	"actor_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	CONSTRAINT "webhook_delivery_journal_pkey" PRIMARY KEY("actor_id","revision")
);

CREATE TABLE "webhook_endpoint_journal" (
	"actor_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	CONSTRAINT "webhook_endpoint_journal_pkey" PRIMARY KEY("actor_id","revision")
);

CREATE TABLE "webhook_endpoints" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"revision" integer NOT NULL,
	"machine_version" smallint NOT NULL,
	"timers" json,
	"wake_at" timestamp with time zone,
	"events" text[] NOT NULL,
	CONSTRAINT "webhook_endpoints_state_check" CHECK ("webhook_endpoints"."state" in ('active', 'disabled', 'deleted'))
);

CREATE TABLE "webhook_secrets" (
	"webhook_id" text collate "C" PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL,
	"prefix" text NOT NULL
);

CREATE TABLE "api_key_journal" (
	"actor_id" text collate "C" NOT NULL,
	"revision" integer NOT NULL,
	"commit_tag" integer NOT NULL,
	"steps" json NOT NULL,
	CONSTRAINT "api_key_journal_pkey" PRIMARY KEY("actor_id","revision")
);

CREATE TABLE "api_keys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"state" text NOT NULL,
	"context" json NOT NULL,
	"revision" integer NOT NULL,
	"machine_version" smallint NOT NULL,
	"timers" json,
	"wake_at" timestamp with time zone,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" text collate "C" NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"created_by" text collate "C",
	CONSTRAINT "api_keys_hash_key" UNIQUE("hash"),
	CONSTRAINT "api_keys_state_check" CHECK ("api_keys"."state" in ('active', 'revoked'))
);

CREATE TABLE "billing" (
	"workspace_id" text collate "C" PRIMARY KEY NOT NULL,
	"customer" text collate "C" NOT NULL,
	"subscription" text,
	"status" text DEFAULT 'none' NOT NULL,
	"plan" text,
	"paid_plan" text,
	"paid_until" timestamp with time zone,
	"past_due_since" timestamp with time zone,
	"renews_at" timestamp with time zone,
	"cancel_at" timestamp with time zone,
	"asked" bigint DEFAULT 0 NOT NULL,
	"read" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "billing_customer_key" UNIQUE("customer")
);

CREATE TABLE "stripe_events" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"at" timestamp with time zone NOT NULL
);

CREATE TABLE "usage" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"period" text collate "C" NOT NULL,
	"used" integer NOT NULL,
	"wanted" integer NOT NULL,
	"granted" integer NOT NULL,
	"quota" integer NOT NULL,
	CONSTRAINT "usage_pkey" PRIMARY KEY("workspace_id","livemode","period")
);

CREATE TABLE "usage_entries" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"period" text collate "C" NOT NULL,
	"units" integer NOT NULL
);

CREATE TABLE "workspace_logos" (
	"workspace_id" text collate "C" NOT NULL,
	"file" text collate "C" NOT NULL,
	"content" "bytea" NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "workspace_logos_pkey" PRIMARY KEY("workspace_id","file")
);

CREATE TABLE "workspaces" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"plan" text NOT NULL,
	"default_from" text,
	"default_reply_to" text,
	"logo" text,
	"colour" text,
	"address" text,
	"website" text,
	"time_zone" text DEFAULT 'UTC' NOT NULL,
	"muted_emails" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"archived_at" timestamp with time zone,
	"erase_at" timestamp with time zone,
	"updated_at" timestamp with time zone,
	CONSTRAINT "workspaces_plan_check" CHECK ("workspaces"."plan" in ('free', 'starter', 'growth', 'unlimited'))
);

ALTER TABLE "browser_sessions" ADD CONSTRAINT "browser_sessions_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "members" ADD CONSTRAINT "members_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "members" ADD CONSTRAINT "members_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "analytics" ADD CONSTRAINT "analytics_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "analytics_cursors" ADD CONSTRAINT "analytics_cursors_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "analytics_hours" ADD CONSTRAINT "analytics_hours_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "analytics_tags" ADD CONSTRAINT "analytics_tags_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "campaigns" ADD CONSTRAINT "campaigns_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "domains" ADD CONSTRAINT "domains_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "flow_runs" ADD CONSTRAINT "flow_runs_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "contact_imports" ADD CONSTRAINT "contact_imports_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "template_versions" ADD CONSTRAINT "template_versions_template_id_fkey" FOREIGN KEY ("template_id") REFERENCES "templates"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "templates" ADD CONSTRAINT "templates_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "billing" ADD CONSTRAINT "billing_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "workspace_logos" ADD CONSTRAINT "workspace_logos_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
CREATE INDEX "audit_log_by_workspace" ON "audit_log" USING btree ("workspace_id","id" DESC NULLS FIRST);
CREATE INDEX "browser_sessions_by_subject" ON "browser_sessions" USING btree ("subject_id");
CREATE INDEX "browser_sessions_by_end" ON "browser_sessions" USING btree ("expires_at");
CREATE INDEX "invitations_by_workspace" ON "invitations" USING btree ("workspace_id","id" DESC NULLS FIRST);
CREATE INDEX "members_by_account" ON "members" USING btree ("account_id");
CREATE INDEX "one_time_tokens_by_end" ON "one_time_tokens" USING btree ("expires_at");
CREATE INDEX "passkeys_by_account" ON "passkeys" USING btree ("account_id");
CREATE INDEX "audience_members_by_contact" ON "audience_members" USING btree ("contact_id","audience_id");
CREATE INDEX "audience_walks_by_next" ON "audience_walks" USING btree ("next_at");
CREATE INDEX "confirmations_by_next" ON "confirmations" USING btree ("next_at");
CREATE INDEX "confirmations_by_contact" ON "confirmations" USING btree ("contact_id");
CREATE UNIQUE INDEX "campaign_recipients_by_address" ON "campaign_recipients" USING btree ("campaign_id","address_hash");
CREATE INDEX "campaign_settings_by_template" ON "campaign_settings" USING btree ("template_id") WHERE "campaign_settings"."template_id" is not null;
CREATE INDEX "campaign_tallies_by_campaign" ON "campaign_tallies" USING btree ("campaign_id");
CREATE INDEX "campaigns_by_workspace" ON "campaigns" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST) WHERE "campaigns"."state" <> 'deleted';
CREATE INDEX "campaigns_by_wake_at" ON "campaigns" USING btree ("wake_at") WHERE "campaigns"."wake_at" is not null;
CREATE INDEX "contact_activity_by_position" ON "contact_activity" USING btree ("position","id") WHERE "contact_activity"."email_id" is null;
CREATE INDEX "contact_activity_by_age" ON "contact_activity" USING brin ("at");
CREATE INDEX "contact_activity_of_test_clocks" ON "contact_activity" USING btree ("test_clock_id","position","id") WHERE "contact_activity"."awaits_clock";
CREATE INDEX "contacts_by_status" ON "contacts" USING btree ("workspace_id","livemode","status","id") WHERE "contacts"."status" <> 'subscribed';
CREATE INDEX "contacts_by_property" ON "contacts" USING gin ("properties" jsonb_path_ops);
CREATE INDEX "contacts_by_name" ON "contacts" USING btree ("workspace_id","livemode","name_key","id") WHERE "contacts"."name_key" is not null;
CREATE INDEX "contacts_by_last_name" ON "contacts" USING btree ("workspace_id","livemode","last_name_key","id") WHERE "contacts"."first_name_key" is not null and "contacts"."last_name_key" is not null;
CREATE INDEX "erasures_by_next" ON "erasures" USING btree ("next_at");
CREATE INDEX "erasures_by_contact" ON "erasures" USING btree ("contact_id");
CREATE UNIQUE INDEX "domains_by_name" ON "domains" USING btree ("workspace_id","name") WHERE "domains"."state" <> 'removed';
CREATE INDEX "domains_by_workspace" ON "domains" USING btree ("workspace_id","id" DESC NULLS FIRST) WHERE "domains"."state" <> 'removed';
CREATE INDEX "domains_by_wake_at" ON "domains" USING btree ("wake_at") WHERE "domains"."wake_at" is not null;
CREATE INDEX "email_due_by_wake_at" ON "email_due" USING btree ("wake_at");
CREATE INDEX "email_due_bulk" ON "email_due" USING btree ("wake_at") WHERE "email_due"."is_bulk";
CREATE INDEX "email_due_by_state" ON "email_due" USING btree ("workspace_id","livemode","state","id") WHERE "email_due"."state" in ('scheduled', 'deferred');
CREATE INDEX "email_due_queued" ON "email_due" USING btree ("workspace_id","livemode","id") WHERE "email_due"."state" = 'queued';
CREATE INDEX "email_turns_by_position" ON "email_turns" USING btree ("workspace_id","livemode","position") WHERE "email_turns"."position" is not null;
CREATE INDEX "email_turns_by_rare_state" ON "email_turns" USING btree ("workspace_id","livemode","state","email_id" DESC NULLS FIRST) WHERE "email_turns"."state" in ('failed', 'cancelled');
CREATE INDEX "emails_by_workspace" ON "emails" USING btree ("workspace_id","livemode","id");
CREATE INDEX "emails_by_position" ON "emails" USING btree ("workspace_id","position") WHERE "emails"."position" is not null;
CREATE INDEX "emails_of_test_clocks" ON "emails" USING btree ("test_clock_id","id") WHERE "emails"."test_clock_id" is not null;
CREATE INDEX "flow_runs_by_flow" ON "flow_runs" USING btree ("flow_id","id" DESC NULLS FIRST);
CREATE INDEX "flow_runs_by_contact" ON "flow_runs" USING btree ("contact_id","id" DESC NULLS FIRST);
CREATE INDEX "flow_runs_by_workspace" ON "flow_runs" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST);
CREATE INDEX "flow_runs_awaiting" ON "flow_runs" USING btree ("contact_id","awaits") WHERE "flow_runs"."awaits" is not null;
CREATE INDEX "flow_runs_watched" ON "flow_runs" USING btree ("contact_id") WHERE "flow_runs"."is_watched" and "flow_runs"."ended_at" is null;
CREATE INDEX "flow_runs_held" ON "flow_runs" USING btree ("flow_id","id") WHERE "flow_runs"."state" = 'held';
CREATE INDEX "flow_runs_under_way" ON "flow_runs" USING btree ("flow_id","id") WHERE "flow_runs"."ended_at" is null;
CREATE INDEX "flow_runs_by_wake_at" ON "flow_runs" USING btree ("wake_at") WHERE "flow_runs"."wake_at" is not null;
CREATE INDEX "flow_runs_running" ON "flow_runs" USING btree ("flow_id") WHERE "flow_runs"."status" = 'running';
CREATE UNIQUE INDEX "flow_runs_by_occurrence" ON "flow_runs" USING btree ("occurrence_key","flow_id");
CREATE UNIQUE INDEX "flow_runs_open" ON "flow_runs" USING btree ("contact_id","flow_id") WHERE "flow_runs"."ended_at" is null;
CREATE INDEX "flow_runs_of_test_clocks" ON "flow_runs" USING btree ("test_clock_id","id") WHERE "flow_runs"."test_clock_id" is not null;
CREATE INDEX "flow_tallies_by_flow" ON "flow_tallies" USING btree ("flow_id","step","outcome");
CREATE UNIQUE INDEX "flows_by_id" ON "flows" USING btree ("id");
CREATE INDEX "flows_listening" ON "flows" USING btree ("workspace_id","livemode","trigger_type") WHERE "flows"."status" = 'active' and "flows"."deleted_at" is null;
CREATE INDEX "flows_ending" ON "flows" USING btree ("id") WHERE "flows"."cancels_before" is not null or "flows"."deleted_at" is not null;
CREATE INDEX "contact_imports_by_workspace" ON "contact_imports" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST);
CREATE INDEX "contact_imports_open" ON "contact_imports" USING btree ("workspace_id","livemode") WHERE "contact_imports"."state" in ('queued', 'checking', 'processing');
CREATE INDEX "contact_imports_by_wake_at" ON "contact_imports" USING btree ("wake_at") WHERE "contact_imports"."wake_at" is not null;
CREATE INDEX "captured_by_workspace" ON "captured" USING btree ("workspace_id","id" DESC NULLS FIRST);
CREATE INDEX "early_visits_by_email" ON "early_visits" USING btree ("email_id","recipient");
CREATE INDEX "early_visits_by_time" ON "early_visits" USING btree ("seen_at");
CREATE INDEX "message_ids_by_until" ON "message_ids" USING btree ("until");
CREATE INDEX "report_requests_by_next" ON "report_requests" USING btree ("next_at");
CREATE INDEX "ses_removals_by_next" ON "ses_removals" USING btree ("next_at");
CREATE INDEX "suppressions_by_age" ON "suppressions" USING btree ("workspace_id","created_at" DESC NULLS FIRST,"address_key" DESC NULLS FIRST);
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");
CREATE INDEX "service_emails_by_next" ON "service_emails" USING btree ("next_at");
CREATE INDEX "test_clock_contacts_by_clock" ON "test_clock_contacts" USING btree ("test_clock_id");
CREATE INDEX "test_clocks_at_work" ON "test_clocks" USING btree ("id") WHERE "test_clocks"."status" = 'advancing' or "test_clocks"."entered_at" is not null;
CREATE UNIQUE INDEX "templates_by_alias" ON "templates" USING btree ("workspace_id","livemode","alias") WHERE "templates"."alias" is not null;
CREATE INDEX "templates_by_workspace" ON "templates" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST);
CREATE INDEX "webhook_deliveries_by_endpoint" ON "webhook_deliveries" USING btree ("webhook_id","id" DESC NULLS FIRST);
CREATE INDEX "webhook_deliveries_by_wake_at" ON "webhook_deliveries" USING btree ("wake_at","webhook_id","id") WHERE "webhook_deliveries"."wake_at" is not null;
CREATE INDEX "webhook_deliveries_of_test_clocks" ON "webhook_deliveries" USING btree ("test_clock_id","id") WHERE "webhook_deliveries"."test_clock_id" is not null;
CREATE INDEX "webhook_endpoints_by_workspace" ON "webhook_endpoints" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST) WHERE "webhook_endpoints"."state" <> 'deleted';
CREATE INDEX "api_keys_by_workspace" ON "api_keys" USING btree ("workspace_id","id" DESC NULLS FIRST);
CREATE INDEX "stripe_events_by_age" ON "stripe_events" USING btree ("at");
CREATE INDEX "workspace_logos_by_file" ON "workspace_logos" USING btree ("file");
