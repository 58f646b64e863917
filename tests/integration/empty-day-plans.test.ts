import { expect, test } from 'bun:test';
import { ownActorReader } from '../../src/engine/store/actors.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import type { Database, Parameter } from '../../src/platform/db/database.ts';
import { readAnalytics } from '../../src/sending/analytics/queries.ts';
import { analyticsRollUp } from '../../src/sending/analytics/roll-up.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';
import { readDetail, readEventsOf } from '../../src/sending/emails/read/detail.ts';
import { readEvents } from '../../src/sending/emails/read/recorded-events.ts';
import { LiveReader } from '../../src/sending/emails/send/reader.ts';
import { SubjectWriter } from '../../src/sending/emails/send/subject-writer.ts';
import { LIVE, postgresStore, rowsOf, WORKSPACE } from '../support/engine.ts';

// These statements are planned once, and every day begins with tables of which nothing is known. What
// happened to an email must be found by its key then: by the index of positions, everything that the
// workspace did on that day was read for each email.

interface Node {
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Node[];
}

/** By the id of the email, or by ids that lie close together. */
const BY_KEY = /\bid = |email_id|\bid >= .*\bid <= /;

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** A query for the last days. */
const REQUEST = {
  caller: LIVE,
  query: { interval: 'day', by: 'accepted' },
  now: Date.now(),
} as unknown as Parameters<typeof readAnalytics>[1];

const SIGNER = createSigner('only-for-tests-only-for-tests-only');
const OWNED = { id: 'em_1', workspaceId: WORKSPACE };
const CONTENT = Bun.zstdCompressSync(JSON.stringify({ html: null, text: 'Hi' })).toHex();
const PLACE = { workspaceId: WORKSPACE, emailId: 'em_1', eventId: 'ev_1' };

/** A database that notes by which indexes its statements come by turns, each with what it is asked by. */
function watched({ query, ...database }: Pick<Database, 'query' | 'kind'>, ways: Set<string>): Database {
  return {
    ...database,
    async query<Row extends object>(text: string, parameters: readonly Parameter[] = []) {
      const plans = await query<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
        `explain (generic_plan, format json) ${text}`,
      );
      for (const { 'Index Name': index, 'Index Cond': asked } of nodesOf(
        plans[0]?.['QUERY PLAN'][0]?.Plan as Node,
      ))
        if (/^email(s|_turns)_/.test(index ?? '')) ways.add(`${index}: ${asked}`);
      return query<Row>(text, parameters);
    },
  } as unknown as Database;
}

test('what happened to an email is found by its key, however little was known of the day when the plan was made', async () => {
  await using store = await postgresStore();
  const { database } = store;
  await database.script(`alter table email_turns_default set (autovacuum_enabled = off);
    alter table emails_default set (autovacuum_enabled = off);
    insert into workspaces (id, name, plan, created_at) values ('${WORKSPACE}', 'Test', 'growth', now())`);
  const seen = { query: database.query.bind(database), kind: database.kind };
  for (const rows of [0, 500, 3_000]) {
    await rowsOf(
      database,
      `insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at, recipients, recipient_keys, sender_key, subject, tags, envelope, content)
      select 'em_' || n, '${WORKSPACE}', true, 'queued', '{}', 1, 1, '[]', now(), '{a@b.example}', '{a@b.example}', 'c@b.example', 'S', '{}', '{"size":1,"from":{"address":"c@b.example"}}', '\\x${CONTENT}'
      from generate_series(1, ${rows}) n on conflict do nothing`,
    );
    await rowsOf(
      database,
      `insert into email_turns (email_id, revision, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at, recorded, position)
      select 'em_' || n, 2, '${WORKSPACE}', true, 'delivered', '{}', 1, 1, '[]', now(), '[]', n from generate_series(1, ${rows}) n
      on conflict do nothing`,
    );
    const uses: Readonly<Record<string, (database: Database) => Promise<unknown>>> = {
      'the sums of analytics': (reads) => readAnalytics({ reads }, REQUEST),
      'the duty that adds up': (asked) => analyticsRollUp({ database: asked }).run(),
      'an email': (asked) => readDetail(asked, LIVE, 'em_1'),
      'its events': (asked) => readEventsOf(asked, LIVE, 'em_1'),
      'events of webhooks': (asked) => readEvents(asked, [PLACE]),
      'a message that is sent': (asked) => new LiveReader(asked, SIGNER, null).message(OWNED),
      'a large one': (asked) => new LiveReader(asked, SIGNER, null).content(OWNED),
      'where it leaves by': (asked) => new LiveReader(asked, SIGNER, null).routingOf(OWNED),
      'its subject, made as it leaves': (asked) =>
        new SubjectWriter(asked).keep({ emailId: 'em_1', workspaceId: WORKSPACE, subject: 'S' }),
      'its life': (asked) => ownActorReader(asked, emailKind, WORKSPACE)(['em_1', 'em_2']),
    };
    for (const [use, run] of Object.entries(uses)) {
      const ways = new Set<string>();
      await run(watched(seen, ways));
      const byEmail = [...ways].filter((way) => BY_KEY.test(way));
      // Of a workspace that nothing has happened in, nothing is added up.
      expect([rows, use, byEmail.length > 0 || rows === 0]).toEqual([rows, use, true]);
      // The acts of the workspace are read by their place.
      const vague = [...ways].filter((way) => !BY_KEY.test(way) && !way.includes('"position"'));
      expect([rows, use, vague]).toEqual([rows, use, []]);
    }
  }
});
