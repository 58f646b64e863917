-- Runs are looked up by what is rarest: an occurrence, or a contact. With the flow in front, a plan that was made while there were
-- none could go by any other index that begins with the flow, and read everybody in it for each contact.
drop index flow_runs_by_occurrence;
create unique index flow_runs_by_occurrence on flow_runs (occurrence_key, flow_id);
drop index flow_runs_open;
create unique index flow_runs_open on flow_runs (contact_id, flow_id) where ended_at is null;
