ALTER TABLE "body_store_owner" ADD COLUMN "place" text;
