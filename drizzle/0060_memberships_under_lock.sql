-- Who joins or leaves an audience locks its contact, and is judged by what is there then. A statement sees what had been committed when it
-- began; a volatile function sees what has been committed when it is called, so also what was written while the lock was waited for.
create function latest_membership(contact text, audience text, out type text, out data json)
language plpgsql volatile as $$
begin
  select entry.type, entry.data into latest_membership.type, latest_membership.data from contact_activity entry
  where entry.contact_id = contact and entry.subject = audience and entry.type in ('joined', 'left')
  order by entry.position desc, entry.id desc limit 1;
end $$;

-- Takes a contact out of an audience; the state that it was in, null where it was not in it.
create function end_membership(contact text, audience text) returns text
language plpgsql volatile as $$
declare was text;
begin
  delete from audience_members m where m.audience_id = audience and m.contact_id = contact returning m.state into was;
  return was;
end $$;
