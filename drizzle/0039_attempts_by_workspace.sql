-- Whoever reads the attempts of an email names its workspace, so that a database that is distributed by it reads them on one node.
create or replace view email_attempts as
select t.email_id, n.attempt, n.recipient, n.outcome, n.at, n.data, t.workspace_id
from email_turns t
cross join lateral json_to_recordset(t.noted)
  as n(attempt integer, recipient integer, outcome text, at timestamptz, data json)
where t.noted is not null;
