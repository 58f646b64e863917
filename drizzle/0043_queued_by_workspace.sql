-- Emails that are queued wait for a moment as a rule, but for days where a limit puts them off: the list of them goes by the workspace.
create index email_due_queued on email_due (workspace_id, livemode, id desc) where state = 'queued';
