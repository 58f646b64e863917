-- People who are being asked whether an audience may have them. A row stands for a mail that is still to be accepted: it is written with
-- what calls for it, and goes in the statement that accepts the mail, so that none is lost and none is sent twice. Its id is that
-- of the entry in the contact's activity that tells of it afterwards.
create table confirmations (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  audience_id text collate "C" not null,
  contact_id text collate "C" not null,
  asked_at timestamptz not null,
  next_at timestamptz not null
);
create index confirmations_by_next on confirmations (next_at);
create index confirmations_by_contact on confirmations (contact_id);

-- When a person was asked last, three times at most: it is counted in the row itself, which two requests cannot change at once.
alter table contacts add column asked_at timestamptz[];

update contacts c set asked_at = a.moments
from (
  select contact_id, (array_agg(at order by at desc))[1:3] as moments from contact_activity
  where type = 'asked' and at > now() - interval '1 day' group by contact_id
) a where c.id = a.contact_id;

alter table contact_activity drop constraint contact_activity_type_check;
alter table contact_activity add constraint contact_activity_type_check check (
  type in (
    'created', 'imported', 'subscribed', 'unsubscribed', 'asked', 'notAsked', 'joined', 'left', 'event',
    'sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'
  )
);

-- How many audiences an environment has, and how many of them have a filter. Whoever asks is alone until its statement has been
-- committed, and what is counted is read after that: a count in the statement itself would not see what others are about to write.
create function audiences_present(workspace text, environment boolean, out present bigint, out dynamic bigint)
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('audiences ' || workspace || ' ' || environment, 0));
  select count(*), count(*) filter (where a.type = 'dynamic') into present, dynamic from audiences a
  where a.workspace_id = workspace and a.livemode = environment;
end $$;

-- The same of the imports that wait or are under way.
create function open_imports(workspace text, environment boolean) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('imports ' || workspace || ' ' || environment, 0));
  return (
    select count(*) from contact_imports i
    where i.workspace_id = workspace and i.livemode = environment and i.state in ('queued', 'checking', 'processing')
  );
end $$;
