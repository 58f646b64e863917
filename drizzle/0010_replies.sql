CREATE TABLE "received_answers" (
	"received_id" text collate "C" NOT NULL,
	"email_id" text collate "C" NOT NULL,
	CONSTRAINT "received_answers_pkey" PRIMARY KEY("received_id","email_id")
);

ALTER TABLE "contact_activity" DROP CONSTRAINT "contact_activity_type_check";
ALTER TABLE "campaign_recipients" ADD COLUMN "replied_at" timestamp with time zone;
ALTER TABLE "received" ADD COLUMN "contact_id" text collate "C";
ALTER TABLE "received" ADD COLUMN "campaign_id" text collate "C";
ALTER TABLE "received" ADD COLUMN "flow_run_id" text collate "C";
CREATE INDEX "campaign_recipients_replied" ON "campaign_recipients" USING btree ("campaign_id") WHERE "campaign_recipients"."replied_at" is not null;
CREATE INDEX "received_by_route" ON "received" USING btree ("workspace_id","livemode","route_id","id" DESC NULLS FIRST);
CREATE INDEX "received_by_email" ON "received" USING btree ("workspace_id","livemode","email_id","id" DESC NULLS FIRST) WHERE "received"."email_id" is not null;
CREATE INDEX "received_by_contact" ON "received" USING btree ("contact_id") WHERE "received"."contact_id" is not null;
