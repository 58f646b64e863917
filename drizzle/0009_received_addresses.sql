ALTER TABLE "received_contents" ADD COLUMN "address_keys" text[] DEFAULT '{}' NOT NULL;
CREATE INDEX "received_contents_by_address" ON "received_contents" USING gin ("address_keys");
