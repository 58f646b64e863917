import type { Database } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';

/** SQL that makes $4 contacts with ids in a row, and puts them into the static audience $3. */
const PEOPLE = `with made as (
  insert into contacts (workspace_id, livemode, id, email, email_key, first_name, first_name_key, properties, status, created_at, updated_at)
  select $1, true, 'con_' || $5 || lpad(n::text, 8, '0'), 'p' || n || '-' || $5 || '@people.example', 'p' || n || '-' || $5 || '@people.example',
    'Person' || n, 'person' || n, jsonb_build_object('plan', case when n % 2 = 0 then 'pro' else 'free' end), 'subscribed',
    now() - interval '1 hour', now() - interval '1 hour'
  from generate_series($2::integer + 1, $2::integer + $4::integer) n returning id
)
insert into audience_members (audience_id, contact_id, state, since)
select $3, id, 'joined', now() - interval '1 hour' from made`;

const AT_ONCE = 10_000;

/**
 * Makes an audience of that many contacts, whose addresses begin with their numbers (`p1-…`), without a
 * request for each.
 */
export async function manyPeople(database: Database, workspaceId: string, count: number): Promise<string> {
  const now = Date.now();
  const id = mintId('aud', now);
  await database.query(
    `insert into audiences (workspace_id, livemode, id, name, type, public, confirm, filter_since, created_at, updated_at)
     values ($1, true, $2, 'Many', 'static', false, false, now(), now(), now())`,
    [workspaceId, id],
  );
  // The time and six letters, by which those of two audiences differ that are made within a millisecond.
  const beginning = mintId('con', now).slice(4, 20);
  for (let done = 0; done < count; done += AT_ONCE)
    await database.query(PEOPLE, [workspaceId, done, id, Math.min(AT_ONCE, count - done), beginning], {
      deadlineMs: 120_000,
    });
  return id;
}
