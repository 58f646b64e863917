import { loadModule, parseSync } from 'libpg-query';
import { SHARD_KEY } from '../../src/platform/db/distribution/catalogue.ts';

// The documented rules of Citus for distributed tables, and those that a cluster refused when this was
// written, held against parsed statements. Tables that are not distributed lie on the coordinator.
// https://docs.citusdata.com/en/stable/develop/reference_workarounds.html

// biome-ignore lint/suspicious/noExplicitAny: the tree of the parser is as PostgreSQL's own, and its types say little more.
type Node = any;

interface Block {
  readonly kind: 'SelectStmt' | 'UpdateStmt' | 'DeleteStmt' | 'InsertStmt' | 'MergeStmt';
  readonly node: Node;
}

const BLOCKS = new Set<string>(['SelectStmt', 'UpdateStmt', 'DeleteStmt', 'InsertStmt', 'MergeStmt']);

/** Loads the parser; before it, nothing can be parsed. */
export const loadParser = (): Promise<void> => loadModule();

/**
 * The rules that a statement would break, each once. `names` are the CTEs and the like that are no tables.
 * @throws where the parser does not understand it
 */
export function breachesOf(sql: string, distributed: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  const tree: Node = parseSync(sql);
  for (const { stmt } of tree.stmts) {
    const ctes = namesOfCtes(stmt);
    const isTable = (name: string): boolean => !ctes.has(name);
    const blocks = blocksOf(stmt);
    // A statement without a distributed table is PostgreSQL's own business.
    if (!blocks.some(({ node }) => tablesOf(node).some(({ name }) => distributed.has(name)))) continue;
    for (const breach of breachesOfHandingOn(stmt, distributed)) found.add(breach);
    for (const block of blocks)
      for (const breach of breachesOfBlock(block, distributed, isTable)) found.add(breach);
  }
  return [...found];
}

/**
 * Rows that one query hands on to another go through a file: a query without columns makes none that can be
 * read, and one that locks beside a join writes more into it than it says. Where the lock lies in a query
 * within, that holds it back.
 */
function breachesOfHandingOn(tree: Node, distributed: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  const walk = (node: Node): void => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (typeof node === 'object' && node !== null)
      for (const [name, value] of Object.entries<Node>(node)) {
        if (name === 'CommonTableExpr') {
          const query = value.ctequery.SelectStmt;
          if (query && isWithoutColumns(query)) found.push(`hands on no column from ${value.ctename}`);
          if (query?.lockingClause && relationsOf(query) > 1)
            found.push(`hands on from ${value.ctename} what it locks beside a join`);
        }
        if (name === 'SubLink' && value.subLinkType === 'EXISTS_SUBLINK') {
          const query = value.subselect.SelectStmt;
          const [table] = tablesOf(query).filter((each) => distributed.has(each.name));
          const isBound = boundAliases(query, tablesOf(query).length === 1).size > 0;
          if (table && !isBound && isWithoutColumns(query))
            found.push(`hands on no column from a look at ${table.name}`);
        }
        walk(value);
      }
  };
  walk(tree);
  return found;
}

const isWithoutColumns = (query: Node): boolean =>
  query.larg ? isWithoutColumns(query.larg) : !query.targetList && !query.valuesLists;

/** The number of relations that one query reads: tables, functions, and queries within it. */
function relationsOf(query: Node): number {
  let count = 0;
  const walk = (node: Node): void => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (typeof node === 'object' && node !== null)
      for (const [name, value] of Object.entries<Node>(node)) {
        if (name === 'RangeVar' || name === 'RangeFunction' || name === 'RangeSubselect') count++;
        else walk(value);
      }
  };
  walk(query.fromClause);
  return count;
}

function namesOfCtes(tree: Node): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (node: Node): void => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (typeof node === 'object' && node !== null)
      for (const [name, value] of Object.entries<Node>(node)) {
        if (name === 'CommonTableExpr') found.add(value.ctename);
        walk(value);
      }
  };
  walk(tree);
  return found;
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
  // The halves of a UNION have no names.
  for (const { node } of [...found])
    for (const half of [node.larg, node.rarg])
      if (half) found.push({ kind: 'SelectStmt', node: half }, ...halvesOf(half));
  return found;
}

const halvesOf = (node: Node): readonly Block[] =>
  [node.larg, node.rarg].flatMap((half) =>
    half ? [{ kind: 'SelectStmt' as const, node: half }, ...halvesOf(half)] : [],
  );

function breachesOfBlock(
  { kind, node }: Block,
  distributed: ReadonlySet<string>,
  isTable: (name: string) => boolean,
): readonly string[] {
  const tables = tablesOf(node).filter(({ name }) => isTable(name));
  const spread = tables.filter(({ name }) => distributed.has(name));
  const target = kind === 'SelectStmt' ? undefined : (node.relation.relname as string);
  const aside =
    target !== undefined && !distributed.has(target) ? [`writes ${target} on the coordinator`] : [];
  if (kind === 'InsertStmt') return aside.length > 0 ? aside : breachesOfInsert(node);
  const bound = boundAliases(node, tablesOf(node).length === 1);
  const found = spread
    .filter(({ alias }) => !bound.has(alias))
    .map(({ name }) => `${kind === 'SelectStmt' ? 'reads' : 'changes'} ${name} on every node`);
  if (spread.length > 0 && spread.length < tables.length)
    for (const { name } of tables)
      if (!distributed.has(name)) found.push(`joins ${name} with a distributed table`);
  if (spread.length > 0 && node.lockingClause && tablesOf(node).length > 1)
    found.push(`locks ${spread[0]?.name} beside a join`);
  const moved = (node.targetList ?? []).some((each: Node) => each.ResTarget?.name === SHARD_KEY);
  if (kind === 'UpdateStmt' && spread.length > 0 && moved) found.push(`moves a row to another ${SHARD_KEY}`);
  return [...found, ...aside];
}

function breachesOfInsert(node: Node): readonly string[] {
  const name = node.relation.relname;
  const columns: readonly string[] = (node.cols ?? []).map((each: Node) => each.ResTarget.name);
  const conflict = node.onConflictClause?.infer?.indexElems?.map((each: Node) => each.IndexElem.name);
  return [
    ...(columns.includes(SHARD_KEY) ? [] : [`inserts into ${name} without ${SHARD_KEY}`]),
    ...(conflict && !conflict.includes(SHARD_KEY)
      ? [`resolves conflicts in ${name} without ${SHARD_KEY}`]
      : []),
  ];
}

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

/**
 * The tables whose workspace_id is a parameter's, or that of such a table, in the conditions of one query.
 * Only a parameter tells the planner the shard: what a row of another relation has is known too late.
 * `isOnly`: names without a table mean the only one.
 */
function boundAliases(node: Node, isOnly: boolean): ReadonlySet<string> {
  const only = isOnly ? tablesOf(node)[0]?.alias : undefined;
  const found = new Set<string>();
  const same: (readonly [string, string])[] = [];
  const aliasOf = (side: Node): string | undefined => {
    const fields: readonly string[] = (side?.ColumnRef?.fields ?? []).map((each: Node) => each.String?.sval);
    if (fields.at(-1) !== SHARD_KEY) return undefined;
    return fields.length > 1 ? fields[0] : only;
  };
  const isParameter = (side: Node): boolean =>
    side?.ParamRef !== undefined || (side?.TypeCast !== undefined && isParameter(side.TypeCast.arg));
  const walk = (each: Node): void => {
    if (Array.isArray(each)) each.forEach(walk);
    else if (typeof each === 'object' && each !== null)
      for (const [name, value] of Object.entries<Node>(each)) {
        if (name === 'A_Expr' && value.name?.[0]?.String?.sval === '=') {
          const [left, right] = [aliasOf(value.lexpr), aliasOf(value.rexpr)];
          if (left && isParameter(value.rexpr)) found.add(left);
          if (left && right) same.push([left, right]);
        }
        // Either side of OR, and what is negated, binds nothing; the queries within are looked at by
        // themselves.
        const isLoose = name === 'BoolExpr' && value.boolop !== 'AND_EXPR';
        if (!isLoose && name !== 'SelectStmt') walk(value);
      }
  };
  walk([node.whereClause, quals(node.fromClause)]);
  for (const _ of same)
    for (const [left, right] of same) {
      if (found.has(left)) found.add(right);
      if (found.has(right)) found.add(left);
    }
  return found;
}

const quals = (from: Node): readonly Node[] =>
  (from ?? []).flatMap((each: Node) => {
    const join = each?.JoinExpr;
    return join ? [join.quals, ...quals([join.larg, join.rarg])] : [];
  });
