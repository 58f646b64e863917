-- The quarters of an hour of `analytics`, four to an hour (UTC): ninety days are 2,160 rows then, and not 8,640. A statement writes both.
-- What begins within an hour, such as a day in India, takes that hour from its quarters.
create table analytics_hours (like analytics including all);
alter table analytics_hours rename column quarter to hour;
alter table analytics_hours add foreign key (workspace_id) references workspaces (id);

insert into analytics_hours
select workspace_id, scope, date_bin('1 hour', quarter, timestamptz '2000-01-01 00:00:00Z'),
  sum(accepted), sum(sent), sum(delivered), sum(opened), sum(clicked), sum(bounced), sum(complained), sum(unsubscribed),
  sum(machine_opened), sum(machine_clicked), sum(sent_of_accepted), sum(delivered_of_accepted), sum(opened_of_accepted),
  sum(clicked_of_accepted), sum(bounced_of_accepted), sum(complained_of_accepted), sum(unsubscribed_of_accepted),
  sum(machine_opened_of_accepted), sum(machine_clicked_of_accepted), sum(reached_delivered), sum(reached_opened),
  sum(reached_clicked), sum(reached_bounced)
from analytics group by 1, 2, 3;

-- The member or the key that made a key, so that whoever removes a member can take their keys away as well; null for the operator's, and
-- where the audit log does not tell any more.
alter table api_keys add column created_by text collate "C";
update api_keys k set created_by = a.actor_id from audit_log a
where a.workspace_id = k.workspace_id and a.action = 'apiKey.created' and a.target_id = k.id and a.actor_type in ('member', 'apiKey');

-- The time step of the last code that came twice: its owner is told once.
alter table accounts add column totp_told bigint not null default 0;
