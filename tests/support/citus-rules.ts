import { loadModule, parseSync } from 'libpg-query';

// What Citus documents of distributed tables, held against parsed statements: a table with a column workspace_id counts as
// distributed by it, any other as a reference table. https://docs.citusdata.com/en/stable/develop/reference_workarounds.html

/** The column that tables would be distributed by. */
export const SHARD_KEY = 'workspace_id';

// biome-ignore lint/suspicious/noExplicitAny: the tree of the parser is as PostgreSQL's own, and its types say little more.
type Node = any;

interface Block {
  readonly kind: 'SelectStmt' | 'UpdateStmt' | 'DeleteStmt' | 'InsertStmt' | 'MergeStmt';
  readonly node: Node;
}

const BLOCKS = new Set<string>(['SelectStmt', 'UpdateStmt', 'DeleteStmt', 'InsertStmt', 'MergeStmt']);

/** Loads the parser; before it, nothing can be parsed. */
export const loadParser = (): Promise<void> => loadModule();

/** What a statement would break, each said once. @throws where the parser does not understand it */
export function breachesOf(sql: string, distributed: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  const tree: Node = parseSync(sql);
  for (const { stmt } of tree.stmts) {
    const blocks = blocksOf(stmt);
    for (const block of blocks) for (const breach of breachesOfBlock(block, distributed)) found.add(breach);
    const written = blocks.flatMap(({ kind, node }) =>
      kind !== 'SelectStmt' && distributed.has(node.relation?.relname) ? [node.relation.relname] : [],
    );
    // A WITH that changes rows runs on one node only: a batch would have to be cut by the workspace's shard.
    if (written.length > 1) found.add('changes distributed tables in WITH');
  }
  return [...found];
}

/** Every query of a tree, those in WITH and those within others as well. */
function blocksOf(tree: Node): readonly Block[] {
  const found: Block[] = [];
  const walk = (node: Node): void => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (typeof node === 'object' && node !== null)
      for (const [name, value] of Object.entries(node)) {
        if (BLOCKS.has(name)) found.push({ kind: name as Block['kind'], node: value });
        walk(value);
      }
  };
  walk(tree);
  // The halves of a UNION have no name of their own.
  for (const { node } of [...found])
    for (const half of [node.larg, node.rarg])
      if (half) found.push({ kind: 'SelectStmt', node: half }, ...halvesOf(half));
  return found;
}

const halvesOf = (node: Node): readonly Block[] =>
  [node.larg, node.rarg].flatMap((half) =>
    half ? [{ kind: 'SelectStmt' as const, node: half }, ...halvesOf(half)] : [],
  );

function breachesOfBlock({ kind, node }: Block, distributed: ReadonlySet<string>): readonly string[] {
  if (kind === 'InsertStmt') return breachesOfInsert(node, distributed);
  const tables = tablesOf(node).filter(({ name }) => distributed.has(name));
  const bound = boundAliases(node);
  const isOnly = tablesOf(node).length === 1;
  const unbound = tables
    .filter(({ alias }) => !bound.has(alias) && !(isOnly && bound.has('')))
    .map(
      ({ name }) =>
        `${kind === 'SelectStmt' ? 'reads' : 'changes'} ${name} by another column than ${SHARD_KEY}`,
    );
  const target = node.relation?.relname;
  if (target !== undefined && !distributed.has(target)) return [...unbound, writesEverywhere(target)];
  const moved = (node.targetList ?? []).some((each: Node) => each.ResTarget?.name === SHARD_KEY);
  return kind === 'UpdateStmt' && moved ? [...unbound, `moves a row to another ${SHARD_KEY}`] : unbound;
}

function breachesOfInsert(node: Node, distributed: ReadonlySet<string>): readonly string[] {
  const name = node.relation.relname;
  if (!distributed.has(name)) return [writesEverywhere(name)];
  const columns: readonly string[] = (node.cols ?? []).map((each: Node) => each.ResTarget.name);
  const conflict = node.onConflictClause?.infer?.indexElems?.map((each: Node) => each.IndexElem.name);
  return [
    ...(columns.includes(SHARD_KEY) ? [] : [`inserts into ${name} without ${SHARD_KEY}`]),
    ...(conflict && !conflict.includes(SHARD_KEY)
      ? [`resolves conflicts in ${name} without ${SHARD_KEY}`]
      : []),
  ];
}

/** A reference table is on every node, and each write of it with it. */
const writesEverywhere = (name: string): string => `writes ${name}, which has no ${SHARD_KEY}`;

interface Table {
  readonly name: string;
  readonly alias: string;
}

/** The tables of one query, without those of the queries within it. */
function tablesOf(node: Node): readonly Table[] {
  const found: Table[] = [];
  const walk = (each: Node): void => {
    if (Array.isArray(each)) each.forEach(walk);
    else if (typeof each === 'object' && each !== null)
      for (const [name, value] of Object.entries<Node>(each)) {
        if (name === 'RangeVar')
          found.push({ name: value.relname, alias: value.alias?.aliasname ?? value.relname });
        else if (name !== 'RangeSubselect') walk(value);
      }
  };
  walk([node.fromClause, node.usingClause]);
  if (node.relation)
    found.push({
      name: node.relation.relname,
      alias: node.relation.alias?.aliasname ?? node.relation.relname,
    });
  return found;
}

/** Whose workspace_id is compared to be equal to something, in the conditions of one query; '' where no table is named. */
function boundAliases(node: Node): ReadonlySet<string> {
  const found = new Set<string>();
  const note = (side: Node): void => {
    const columns = side?.RowExpr?.args ?? side?.List?.items ?? [side];
    for (const column of columns) {
      const fields: readonly string[] = (column?.ColumnRef?.fields ?? []).map(
        (each: Node) => each.String?.sval,
      );
      if (fields.at(-1) === SHARD_KEY) found.add(fields.length > 1 ? (fields[0] as string) : '');
    }
  };
  const walk = (each: Node): void => {
    if (Array.isArray(each)) each.forEach(walk);
    else if (typeof each === 'object' && each !== null)
      for (const [name, value] of Object.entries<Node>(each)) {
        if (name === 'A_Expr' && value.name?.[0]?.String?.sval === '=')
          for (const side of [value.lexpr, value.rexpr]) note(side);
        // Either side of OR, and what is negated, binds nothing; the queries within are looked at by themselves.
        const isLoose = name === 'BoolExpr' && value.boolop !== 'AND_EXPR';
        if (!isLoose && name !== 'SelectStmt') walk(value);
      }
  };
  walk([node.whereClause, quals(node.fromClause)]);
  return found;
}

const quals = (from: Node): readonly Node[] =>
  (from ?? []).flatMap((each: Node) => {
    const join = each?.JoinExpr;
    if (!join) return [];
    const using = (join.usingClause ?? []).map((column: Node) => ({
      A_Expr: { name: [{ String: { sval: '=' } }], lexpr: { ColumnRef: { fields: [column] } } },
    }));
    return [join.quals, ...using, ...quals([join.larg, join.rarg])];
  });
