CREATE TABLE "asset_contents" (
	"asset_id" text collate "C" PRIMARY KEY NOT NULL,
	"content" "bytea" NOT NULL
);

CREATE TABLE "assets" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"file" text collate "C" NOT NULL,
	"filename" text NOT NULL,
	"content_type" text NOT NULL,
	"width" integer NOT NULL,
	"height" integer NOT NULL,
	"size" integer NOT NULL,
	"last_shown_on" date,
	"created_at" timestamp with time zone NOT NULL
);

ALTER TABLE "asset_contents" ADD CONSTRAINT "asset_contents_asset_id_fkey" FOREIGN KEY ("asset_id") REFERENCES "assets"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "assets" ADD CONSTRAINT "assets_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE no action ON UPDATE no action;
CREATE UNIQUE INDEX "assets_by_content" ON "assets" USING btree ("workspace_id","file");
CREATE INDEX "assets_by_file" ON "assets" USING btree ("file");
CREATE INDEX "assets_by_workspace" ON "assets" USING btree ("workspace_id","id" DESC NULLS FIRST);
