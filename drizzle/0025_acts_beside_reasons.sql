ALTER TABLE "suppressions" ADD COLUMN "unsubscribed_at" timestamp with time zone;
ALTER TABLE "suppressions" ADD COLUMN "complained_at" timestamp with time zone;
