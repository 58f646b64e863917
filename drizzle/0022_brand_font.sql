ALTER TABLE "workspaces" ADD COLUMN "font_family" text;
