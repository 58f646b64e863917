ALTER TABLE "assets" ADD COLUMN "body_key" text collate "C";
CREATE INDEX "assets_by_body" ON "assets" USING btree ("workspace_id","body_key") WHERE "assets"."body_key" is not null;
