ALTER TABLE "email_due" ADD COLUMN "held_by" integer;
ALTER TABLE "service_instances" ADD COLUMN "epoch" integer;
