// Holds the language of templates against golden-liquid, a suite of cases for all Liquids
// (github.com/jg-rp/golden-liquid, MIT).
//   bun tests/bench/golden-liquid.ts [golden_liquid.json]
// Without a file the suite is read from its repository. Every case that differs has to be explained below,
// and every explanation has to be used; 810 cases are what the library alone makes.
import {
  Composer,
  type LayerSource,
  type PartialSource,
} from '../../src/automation/templates/layers/compose.ts';
import { NOTHING } from '../../src/automation/templates/render/content.ts';
import { textLiquid } from '../../src/mail/liquid/engine.ts';

interface Case {
  readonly name: string;
  readonly template: string;
  readonly data?: Record<string, unknown>;
  readonly result?: string;
  readonly results?: readonly string[];
  readonly invalid?: boolean;
  readonly templates?: Readonly<Record<string, string>>;
}

const SUITE = 'https://raw.githubusercontent.com/jg-rp/golden-liquid/main/golden_liquid.json';
const FEWEST = 910;

/** Why cases differ, by what their names begin with, or by a part of them. */
const DIFFERENCES: readonly [why: string, names: RegExp][] = [
  ['there is no include, which would see and change every name', /^tags, include,/],
  ['a partial is rendered once: the loop is written around it', /^tags, render,/],
  ['the text of doc and comment is read for its tags', /^tags, (?:doc|comment),/],
  [
    'JSON has one type of number, so 2.0 is 2 and whole numbers are divided as such',
    /float|0\.0 is not falsy|^filters, (?:minus|plus), string not a number|^filters, divided by,|string value and/,
  ],
  [
    'white space is written, also where a block holds nothing else',
    /white ?space|blank empty loops|are not rendered/,
  ],
  [
    'objects are written as [object Object]; their order and size are of no use in an email',
    /thing|object|hash|of a hash/,
  ],
  ['identifiers are read more leniently', /^identifiers,|^output, (?:chained|dot followed|whitespace)/],
  ['nil equals nothing but nil', /^blank and empty,|nil|null/],
  [
    'what is missing counts as not given, or as nothing',
    /undefined|missing|explicit nil|start is not a number|end is not a number/,
  ],
  [
    'a wrong argument is taken for its nearest meaning instead of an error',
    /not a number|not an integer|non-number|string argument|not an array|incompatible|invalid|unhashable|too many|array containing|array of ints|non array-like|not a string|unexpected|negative|no (?:commas|subtraction)|left value/,
  ],
  ['what has no such property is passed over, where Ruby ends a search', /with a nil|mixed array/],
  ['a case is read once, and ends at its first match', /^tags, case,/],
  ['forloop has no parentloop, and keywords are read more leniently', /^tags, for,/],
  ['conditions are read more leniently', /^tags, (?:if|unless),/],
  ['keyword arguments come last', /keyword argument before/],
];

const path = process.argv[2];
const text = path === undefined ? await (await fetch(SUITE)).text() : await Bun.file(path).text();
const { tests } = JSON.parse(text) as { readonly tests: readonly Case[] };

const sourceOf = (name: string | null, text: string): LayerSource => ({
  name,
  sources: { ...NOTHING, text },
  slots: { text: textLiquid.slotsOf(textLiquid.parse(text)) },
});

/** The template with its partials in it, as one is saved. */
function composed({ template, templates = {} }: Case): string {
  const partials = Object.entries(templates).map(([name, text]): [string, PartialSource] => [
    name,
    { ...sourceOf(name, text), variables: [], partFor: () => 'text' },
  ]);
  if (!template.includes('render')) return template;
  return new Composer(new Map(partials)).compose(sourceOf(null, template), 'text', null)?.text ?? '';
}

function holds(given: Case): boolean {
  const { data = {}, result, results = [], invalid } = given;
  try {
    const source = composed(given);
    const rendered = textLiquid.render(textLiquid.parse(source), { names: data, now: Date.now() });
    return !invalid && (rendered === result || results.includes(rendered));
  } catch {
    return invalid ?? false;
  }
}

const differing = tests.filter((each) => !holds(each));
const unexplained: string[] = [];
const explained = new Map<string, number>();
for (const { name } of differing) {
  const [why] = DIFFERENCES.find(([, names]) => names.test(name)) ?? [];
  if (why === undefined) unexplained.push(name);
  else explained.set(why, (explained.get(why) ?? 0) + 1);
}
const same = tests.length - differing.length;
console.log(`${same} of ${tests.length} cases hold (at least ${FEWEST} have to).`);
for (const [why, count] of explained) console.log(`${String(count).padStart(4)}  ${why}`);
const idle = DIFFERENCES.filter(([why]) => !explained.has(why)).map(([why]) => why);
if (unexplained.length > 0) console.log(`Not explained:\n${unexplained.join('\n')}`);
if (idle.length > 0) console.log(`Explained, and without a case:\n${idle.join('\n')}`);
process.exitCode = same >= FEWEST && unexplained.length + idle.length === 0 ? 0 : 1;
