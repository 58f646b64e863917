-- The request that did it, as its answer and the log of the service name it; null for the operator on the command line.
alter table audit_log add column request_id text collate "C";
