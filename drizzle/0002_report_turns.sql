CREATE INDEX "report_requests_by_workspace" ON "report_requests" USING btree ("workspace_id","next_at");
