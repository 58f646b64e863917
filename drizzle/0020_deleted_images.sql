ALTER TABLE "assets" ADD COLUMN "deleted_at" timestamp with time zone;
CREATE INDEX "assets_by_deletion" ON "assets" USING btree ("deleted_at") WHERE "assets"."deleted_at" is not null;

-- A started campaign sends what its content said at the start, whatever its template says since.
CREATE INDEX "campaign_contents_by_image" ON "campaign_contents" USING gin (images_in("content"));
