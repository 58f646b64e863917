CREATE TABLE "aggregate_reports" (
	"domain_id" text collate "C" NOT NULL,
	"kind" text NOT NULL,
	"reporter" text collate "C" NOT NULL,
	"report_id" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"messages" bigint NOT NULL,
	"policy" text,
	CONSTRAINT "aggregate_reports_pkey" PRIMARY KEY("domain_id","kind","reporter","report_id"),
	CONSTRAINT "aggregate_reports_kind_check" CHECK ("aggregate_reports"."kind" in ('dmarc', 'tls'))
);

CREATE TABLE "dmarc_sums" (
	"domain_id" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"source" text collate "C" NOT NULL,
	"is_dkim_aligned" boolean NOT NULL,
	"is_spf_aligned" boolean NOT NULL,
	"disposition" text NOT NULL,
	"messages" bigint NOT NULL,
	CONSTRAINT "dmarc_sums_pkey" PRIMARY KEY("domain_id","day","source","is_dkim_aligned","is_spf_aligned","disposition"),
	CONSTRAINT "dmarc_sums_disposition_check" CHECK ("dmarc_sums"."disposition" in ('none', 'quarantine', 'reject'))
);

CREATE TABLE "tls_sums" (
	"domain_id" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"result" text NOT NULL,
	"sessions" bigint NOT NULL,
	CONSTRAINT "tls_sums_pkey" PRIMARY KEY("domain_id","day","result")
);

CREATE TABLE "unverified_reports" (
	"domain_id" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"reports" integer NOT NULL,
	CONSTRAINT "unverified_reports_pkey" PRIMARY KEY("domain_id","day")
);

CREATE INDEX "aggregate_reports_by_receipt" ON "aggregate_reports" USING btree ("received_at");
CREATE INDEX "aggregate_reports_of_domain" ON "aggregate_reports" USING btree ("domain_id","received_at");
CREATE INDEX "dmarc_sums_by_day" ON "dmarc_sums" USING btree ("day");
CREATE INDEX "tls_sums_by_day" ON "tls_sums" USING btree ("day");
CREATE INDEX "unverified_reports_by_day" ON "unverified_reports" USING btree ("day");
CREATE INDEX "domains_by_host" ON "domains" USING btree ("name") WHERE "domains"."state" <> 'removed';
CREATE INDEX "domains_by_return_path" ON "domains" USING btree ("return_path") WHERE "domains"."state" <> 'removed';
