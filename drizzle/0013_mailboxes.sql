CREATE TABLE "mailbox_messages" (
	"mailbox_id" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"read_at" timestamp with time zone NOT NULL,
	CONSTRAINT "mailbox_messages_pkey" PRIMARY KEY("mailbox_id","digest")
);

CREATE TABLE "mailboxes" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"host" text NOT NULL,
	"port" integer NOT NULL,
	"security" text NOT NULL,
	"username" text NOT NULL,
	"folder" text NOT NULL,
	"sealed" text NOT NULL,
	"is_paused" boolean NOT NULL,
	"state" text NOT NULL,
	"problem" text,
	"state_at" timestamp with time zone NOT NULL,
	"failures" integer NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"holder" text,
	"held_until" timestamp with time zone,
	"uid_validity" bigint,
	"last_uid" bigint NOT NULL,
	"begun_at" timestamp with time zone,
	"since" timestamp with time zone,
	"taken" bigint NOT NULL,
	"skipped" bigint NOT NULL,
	"last_taken_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "mailboxes_security_check" CHECK ("mailboxes"."security" in ('tls', 'starttls')),
	CONSTRAINT "mailboxes_state_check" CHECK ("mailboxes"."state" in ('waiting', 'connected', 'failing'))
);

CREATE INDEX "mailbox_messages_by_age" ON "mailbox_messages" USING btree ("read_at");
CREATE INDEX "mailboxes_by_workspace" ON "mailboxes" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST);

-- Mailboxes of one environment are counted one request after the other.
create function mailboxes_present(workspace text, environment boolean) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('mailboxes ' || workspace || ' ' || environment, 0));
  return (select count(*) from mailboxes m where m.workspace_id = workspace and m.livemode = environment);
end $$;
