CREATE TABLE "sent_message_ids" (
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"key" uuid NOT NULL,
	"email_id" text collate "C" NOT NULL,
	"until" timestamp with time zone NOT NULL,
	CONSTRAINT "sent_message_ids_pkey" PRIMARY KEY("workspace_id","livemode","key")
);

CREATE INDEX "sent_message_ids_by_until" ON "sent_message_ids" USING btree ("until");
