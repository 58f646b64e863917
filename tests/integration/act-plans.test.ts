import { expect, test } from 'bun:test';
import { campaignMail } from '../../src/automation/campaigns/sending/mail.ts';
import { nextWaiting } from '../../src/automation/campaigns/sending/recipients.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import type { Database, Parameter } from '../../src/platform/db/database.ts';
import { LiveReader } from '../../src/sending/emails/send/reader.ts';
import { readActs } from '../../src/sending/suppressions/queries.ts';
import { postgresStore, rowsOf } from '../support/engine.ts';

// The acts that keep mail from a person are read for a dozen recipients at a time. A plan that reads the
// whole audience for them costs a campaign more than all its other statements together.

const MEMBERS = 3_000;

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Node[];
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** The first statement that is run with a database, as its text. */
async function textOf(use: (database: Database) => Promise<unknown>): Promise<string> {
  let text = '';
  const query = async (asked: string, _parameters?: readonly Parameter[]) => {
    text ||= asked;
    return [];
  };
  await use({ query } as unknown as Database);
  return text;
}

const RECIPIENT = { emailId: 'em_1', campaignId: 'cmp_1', workspaceId: 'ws_1', recipientKey: 'a@b.example' };
const mailOf = (database: Database) =>
  campaignMail({
    database,
    signer: createSigner('only-for-tests'),
    publicUrl: 'https://mail.example',
    contents: {} as Parameters<typeof campaignMail>[0]['contents'],
    monotonic: () => 0,
  });

test('the acts of a dozen recipients are looked up one by one, however many are in the audience', async () => {
  await using store = await postgresStore();
  const { database } = store;
  for (const values of [
    `audience_members (audience_id, contact_id, state, since) select 'aud_1', 'con_' || n, 'joined', now()`,
    `contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
    select 'ws_1', true, 'con_' || n, 'e' || n, 'e' || n, '{}', 'subscribed', now(), now()`,
    `campaign_recipients (campaign_id, contact_id, address_hash, state)
    select 'cmp_1', 'con_' || n, md5('e' || n)::uuid, 'waiting'`,
  ])
    await rowsOf(database, `insert into ${values} from generate_series(1, ${MEMBERS}) n`);
  await database.script('analyze audience_members, contacts, campaign_recipients');
  const statements = {
    attempt: await textOf((seen) => mailOf(seen).mayLeave(RECIPIENT)),
    dispatch: await textOf((seen) =>
      nextWaiting(seen, { campaignId: 'cmp_1', workspaceId: 'ws_1', audienceId: 'aud_1' }, '', 64),
    ),
    single: await textOf((seen) =>
      new LiveReader(seen, createSigner('only-for-tests'), null).withholdings('ws_1', ['e1']),
    ),
    flow: await textOf((seen) =>
      readActs(seen).ask({ workspaceId: 'ws_1', contactId: 'con_1', audienceId: 'aud_1' }),
    ),
  };
  for (const [name, statement] of Object.entries(statements)) {
    const [row] = await rowsOf<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
      database,
      `explain (generic_plan, format json) ${statement}`,
    );
    const nodes = nodesOf(row?.['QUERY PLAN'][0]?.Plan as Node);
    const whole = nodes
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name'])
      .filter((table) => ['audience_members', 'erasures', 'contacts', 'suppressions'].includes(table ?? ''));
    expect([name, whole]).toEqual([name, []]);
  }
});
