// Renders every MJML under folders, such as the tests of MJML's own repository, and compares the html with
// that of `mjml` 5 on Node:
//
//   bun tests/failure/mjml-inputs-long.ts FOLDER… [--show 20]
//
// It reads files that end with .mjml, and each <mjml>…</mjml> in .js, .ts and .md files. An input gives the
// same html, or differs for a reason of the list below. It prints counts, and ends with an error where
// neither holds. Node and the package mjml have to be there.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MarkdownProblem } from '../../src/mail/content/markdown-values.ts';
import { renderMjml } from '../../src/mail/content/render-mjml.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { show: { type: 'string', default: '20' } },
});
if (positionals.length === 0) {
  console.log('bun tests/failure/mjml-inputs-long.ts FOLDER… [--show 20]');
  process.exit(2);
}

/** The reasons for which an input gives another html, or none. The first that holds counts. */
const REASONS: Readonly<Record<string, (mjml: string, refusal: string | null) => boolean>> = {
  'mj-include is refused: nothing is read from files': (_, refusal) => /mj-include/.test(refusal ?? ''),
  'a tag of Liquid between elements is refused: MJML would leave it out': (_, refusal) =>
    /between elements/.test(refusal ?? ''),
  'mj-font is left out: its server would learn of every reader': (mjml) => mjml.includes('<mj-font'),
  'no element mjml with an mj-body: Node renders an empty page': (mjml, refusal) =>
    refusal !== null && !/<mj-body[\s>]/.test(mjml),
};

interface Input {
  readonly name: string;
  readonly mjml: string;
}

const inputs: Input[] = [];
for (const folder of positionals)
  for (const file of await readdir(folder, { recursive: true })) {
    if (!/\.(?:mjml|[cm]?[jt]s|md)$/.test(file)) continue;
    const text = await readFile(join(folder, file), 'utf8');
    if (file.endsWith('.mjml')) inputs.push({ name: file, mjml: text });
    else
      for (const [n, found] of [...text.matchAll(/<mjml\b[^`]*?<\/mjml>/g)].entries())
        inputs.push({
          name: `${file} ${n + 1}`,
          mjml: found[0].replaceAll('\\`', '`').replaceAll('\\n', '\n'),
        });
  }

/**
 * The html of each input by mjml on Node; null where it refuses it. Ids that it draws at random are made
 * alike.
 */
async function onNode(all: readonly string[]): Promise<(string | null)[]> {
  const script = `
    import mjml from 'mjml';
    let given = '';
    for await (const piece of process.stdin) given += piece;
    const made = [];
    for (const one of JSON.parse(given))
      made.push(await Promise.resolve().then(() => mjml(one, { fonts: {}, validationLevel: 'skip', ignoreIncludes: true })).then(({ html }) => html, () => null));
    process.stdout.write(JSON.stringify(made));`;
  const node = Bun.spawn(['node', '--input-type=module', '--eval', script], {
    cwd: join(import.meta.dir, '../..'),
    stdin: new Blob([JSON.stringify(all)]),
    stderr: 'inherit',
  });
  return JSON.parse(await new Response(node.stdout).text());
}

const steady = (html: string): string => html.replace(/[\da-f]{16}/g, 'id');
const expected = await onNode(inputs.map(({ mjml }) => mjml));
const counts = new Map<string, number>();
const count = (what: string): void => {
  counts.set(what, (counts.get(what) ?? 0) + 1);
};
let unexplained = 0;
for (const [index, { name, mjml }] of inputs.entries()) {
  const wanted = expected[index] ?? null;
  const made = await renderMjml(mjml, crypto.randomUUID().replaceAll('-', '')).catch((error: unknown) => {
    if (error instanceof MarkdownProblem) return error;
    throw error;
  });
  const refusal = made instanceof MarkdownProblem ? made.message : null;
  const html = made instanceof MarkdownProblem ? null : made.html;
  if (wanted !== null && html !== null && steady(wanted) === steady(html)) count('the same html');
  else if (wanted === null && html === null) count('refused by both');
  else {
    const reason = Object.entries(REASONS).find(([, holds]) => holds(mjml, refusal))?.[0];
    if (reason !== undefined) count(reason);
    else {
      count('ANOTHER html, without a reason');
      if (++unexplained <= Number(values.show)) tell(name, wanted, html ?? `refused: ${refusal}`);
    }
  }
}
console.log(`${inputs.length} inputs`);
for (const [what, times] of [...counts].toSorted(([, one], [, other]) => other - one))
  console.log(`${times} ${what}`);
process.exitCode = unexplained === 0 && inputs.length > 0 ? 0 : 1;

function tell(name: string, wanted: string | null, html: string): void {
  const [one, other] = [steady(wanted ?? 'refused'), steady(html)];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  console.log(`${name}:\n  Node has ${JSON.stringify(one.slice(Math.max(0, at - 60), at + 100))}`);
  console.log(`  it has   ${JSON.stringify(other.slice(Math.max(0, at - 60), at + 100))}`);
}
