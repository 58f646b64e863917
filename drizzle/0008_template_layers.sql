ALTER TABLE "template_versions" ADD COLUMN "uses" text[] DEFAULT '{}' NOT NULL;
ALTER TABLE "templates" ADD COLUMN "kind" text DEFAULT 'template' NOT NULL;
CREATE INDEX "template_versions_by_use" ON "template_versions" USING gin ("uses") WHERE "template_versions"."uses" <> '{}';
