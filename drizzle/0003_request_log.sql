CREATE TABLE "api_requests" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"livemode" boolean NOT NULL,
	"api_key_id" text collate "C" NOT NULL,
	"method" text NOT NULL,
	"route" text NOT NULL,
	"path" text NOT NULL,
	"status" smallint NOT NULL,
	"duration_ms" integer NOT NULL,
	"error_code" text
);

CREATE INDEX "api_requests_by_workspace" ON "api_requests" USING btree ("workspace_id","livemode","id" DESC NULLS FIRST);
CREATE INDEX "api_requests_by_key" ON "api_requests" USING btree ("api_key_id","id" DESC NULLS FIRST);
