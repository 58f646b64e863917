ALTER TABLE "invitations" ADD COLUMN "language" text;
ALTER TABLE "members" ADD COLUMN "language" text;
ALTER TABLE "workspaces" ADD COLUMN "language" text;
