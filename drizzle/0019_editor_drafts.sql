CREATE TABLE "editor_drafts" (
	"workspace_id" text collate "C" NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"key" text collate "C" NOT NULL,
	"place" text collate "C" NOT NULL,
	"based_on" text NOT NULL,
	"changed" text NOT NULL,
	"sums" text NOT NULL,
	"kept_at" timestamp with time zone NOT NULL,
	CONSTRAINT "editor_drafts_pkey" PRIMARY KEY("workspace_id","account_id","key")
);

ALTER TABLE "editor_drafts" ADD CONSTRAINT "editor_drafts_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "editor_drafts" ADD CONSTRAINT "editor_drafts_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE no action ON UPDATE no action;
CREATE INDEX "editor_drafts_by_account" ON "editor_drafts" USING btree ("account_id");
CREATE INDEX "editor_drafts_by_place" ON "editor_drafts" USING btree ("workspace_id","place");
CREATE INDEX "editor_drafts_by_age" ON "editor_drafts" USING btree ("kept_at");
