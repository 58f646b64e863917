-- Ascending, as ids come: of new entries at the beginning of a workspace's own PostgreSQL halves its pages, of those at the end it fills them.
-- An email that is scheduled cost it 41 µs to accept, and 37 so. The lists walk backwards.
drop index email_due_by_state;
create index email_due_by_state on email_due (workspace_id, livemode, state, id)
  where state in ('scheduled', 'deferred');
drop index email_due_queued;
create index email_due_queued on email_due (workspace_id, livemode, id) where state = 'queued';
