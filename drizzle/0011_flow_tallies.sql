-- What was counted of flows, a row for each commit that had something to count, added up into fewer by a duty: nobody waits for a
-- row. Without a step it is about runs, `entered` and how they ended; with one, what the step came to. Counting the rows of runs
-- and of their log took the longer the more of them there were.
create table flow_tallies (
  flow_id text collate "C" not null,
  step text collate "C" not null,
  outcome text collate "C" not null,
  count integer not null
);
create index flow_tallies_by_flow on flow_tallies (flow_id, step, outcome);

insert into flow_tallies (flow_id, step, outcome, count)
select flow_id, step, outcome, count(*) from flow_run_log group by flow_id, step, outcome
union all select flow_id, '', 'entered', count(*) from flow_runs group by flow_id
union all select flow_id, '', status, count(*) from flow_runs where ended_at is not null group by flow_id, status;

drop index flow_run_log_by_step;
-- Those at work at the moment, of which there are few at any time.
create index flow_runs_running on flow_runs (flow_id) where status = 'running';
