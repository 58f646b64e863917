import type { Kind } from '../../src/engine/machine/kind.ts';
import { LEFT_AT_ONCE } from '../../src/engine/store/local-leases-sql.ts';
import type { BatchStatement } from '../../src/engine/store/statements/statement-parts.ts';
import { wakeWriting } from '../../src/engine/store/statements/wake-at.ts';
import { storeOf } from '../../src/engine/store/store-of.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { formatSql } from './format.ts';

/** As on a PostgreSQL server, whose clock the service's is compared with. */
const WAKE = wakeWriting({ ...systemClock, agreement: { skewMs: 0, machineSkewMs: 0, agrees: true } });

/** The SQL of the form that a batch gets which needs these parts. */
export function formOf(kind: Kind, statement: BatchStatement, needed: (part: string) => boolean): string {
  const signs = statement.parts.flatMap(({ name, columns: [sign = ''] }) => (needed(name) ? [sign] : []));
  const row = { id: 'id', ...Object.fromEntries(signs.map((sign) => [sign, ''])) };
  const templates = kind.children.map(() => () => '');
  return statement.prepare([row], 1, templates).sql;
}

const fence = (sql: string): string => `\`\`\`sql\n${formatSql(sql)}\n\`\`\``;

/** A page of a statement: its heading, its purpose and its text. */
const section = (heading: string, purpose: string, sql: string): string =>
  `## ${heading}\n\n${purpose}\n\n${fence(sql)}`;

/** The least and the whole form of a statement that has optional parts. */
function formsOf(kind: Kind, heading: string, purpose: string, make: () => BatchStatement): string {
  const { parts } = make();
  const names = parts.map(({ name, columns: [sign = ''] }) =>
    sign === name ? `\`${name}\`` : `\`${name}\` (\`${sign}\`)`,
  );
  return `## ${heading}

${purpose} Optional parts, each with the column that needs it: ${names.join(', ')}.

### Least form

${fence(formOf(kind, make(), () => false))}

### All parts

${fence(formOf(kind, make(), () => true))}`;
}

/** The statements of a kind. */
export function kindPage(kind: Kind): string {
  const store = storeOf(kind);
  const { offers } = kind;
  const { sql: history } = store.history({ id: '', revision: 1, workspace_id: '' }, 500);
  const waiting =
    offers && `\`${offers.where}\`${offers.bulk === undefined ? '' : `, of these \`${offers.bulk}\``}`;
  const sections = [
    formsOf(kind, 'insert', 'Writes new actors.', () => store.insert(WAKE)),
    formsOf(kind, 'commit', 'Writes changed actors.', () => store.commit(WAKE)),
    ...(store.revisionKeyIn === null
      ? []
      : [
          section(
            'commit, contended',
            'After a lost race, for a second: it leaves out losers instead of failing. Least form.',
            formOf(kind, store.commit(WAKE, { isContended: true }), () => false),
          ),
        ]),
    ...(store.listeners === null
      ? []
      : [
          section(
            'commit, without listeners',
            `Comes first while no listener to \`${store.listeners.fact.name}\` is known. With one, it writes nothing and returns the topics. All parts.`,
            formOf(kind, store.commit(WAKE, { isUnheard: true }), () => true),
          ),
        ]),
    section('load', 'Reads actors by their ids.', store.load()),
    section('read back', 'Finds the commits of revisions, after a lost reply.', store.readBack()),
    section('history', 'Reads the writes of one actor.', history),
    section(
      'due',
      `Finds actors whose time has come.${waiting ? ` Actors that wait for the performer are found apart: ${waiting}.` : ''}`,
      store.due(),
    ),
    section('claim', 'The same, while another instance looks for them as well.', store.claim(WAKE)),
    section('next due', 'The next moment at which one is due.', store.nextDue()),
    ...(store.forgetStray === null
      ? []
      : [section('forget strays', 'Removes due rows without an actor.', store.forgetStray)]),
    ...(store.keepsLeases
      ? [
          section(
            'left by an instance',
            'New actors that an instance has kept, and which have had no second write.',
            store.left(LEFT_AT_ONCE),
          ),
        ]
      : []),
  ];
  return `# SQL of \`${kind.name}\`\n\n${sections.join('\n\n')}\n`;
}

/** The list of the kinds' pages, with the parameters that they share. */
export const indexPage = (kinds: readonly Kind[]): string => `# The engine's SQL

\`bun run generate\` prints here what the store of each kind sends (\`src/engine/store\`), with line breaks added. The gate compares.

| Kind | Table | Storage |
| --- | --- | --- |
${kinds.map((kind) => `| [${kind.name}](${kind.name}.md) | \`${storeOf(kind).actorTable}\` | ${storeOf(kind).revisionKeyIn === null ? 'one row, rewritten' : 'history, appended'} |`).join('\n')}

\`insert\` and \`commit\` have a form for each set of parts that the rows of a batch need. Each page shows the least form and the one
with all parts; the others lie between. Their parameters: \`$1\` is the machine's version, \`$2\` the tag of the commit, \`$3\` the
separator of cells, \`$4\` the sign for null, \`$5\` the separator of rows, \`$6\` the text of all rows. Then come columns of octets, a
template for each kind of children, the topics of the batch, and its lowest and highest id, as far as the form reads them.

Where tables are distributed over several nodes, statements also name the workspaces of their batch
(\`src/platform/db/distribution\`).
`;
