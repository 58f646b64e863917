// Holds the language of templates against golden-liquid, a suite of cases for all Liquids (github.com/jg-rp/golden-liquid, MIT).
//   bun tests/bench/golden-liquid.ts [golden_liquid.json]
// Without a file the suite is read from its repository. Every case that differs has to be explained below, and every explanation
// has to be used; 810 cases are what the library alone makes.
import { textLiquid } from '../../src/mail/liquid/engine.ts';

interface Case {
  readonly name: string;
  readonly template: string;
  readonly data?: Record<string, unknown>;
  readonly result?: string;
  readonly results?: readonly string[];
  readonly invalid?: boolean;
}

const SUITE = 'https://raw.githubusercontent.com/jg-rp/golden-liquid/main/golden_liquid.json';
const FEWEST = 810;

/** Why cases differ, by what their names begin with, or by a part of them. */
const DIFFERENCES: readonly [why: string, names: RegExp][] = [
  ['a template reads no other template', /^tags, (?:include|render),/],
  ['the library has no such tag', /^tags, (?:ifchanged|doc|inline comment),/],
  ['the library has no such filter', /^filters, base64 url safe/],
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
    /not a number|not an integer|non-number|string argument|not an array|incompatible|invalid|unhashable|too many|array containing|array of ints|non array-like|unexpected|negative|no (?:commas|subtraction)|left value/,
  ],
  ['arrays within arrays are not flattened', /nested/],
  [
    'filters look at properties, not at text within texts',
    /substring|default value|array of strings|string input/,
  ],
  ['a case is read once, and ends at its first match', /^tags, case,/],
  ['the names of cycles are those of the library', /^tags, cycle,/],
  ['tables are written without line breaks, and breaks end a cell', /^tags, tablerow,/],
  ['forloop has no parentloop, and keywords are read more leniently', /^tags, for,/],
  ['conditions are read more leniently', /^tags, (?:if|unless),/],
  ['special characters are as encodeURIComponent has them', /^filters, url encode,/],
  ['text is split at the separator alone', /^filters, split,/],
  ['keyword arguments come last', /keyword argument before/],
];

const path = process.argv[2];
const text = path === undefined ? await (await fetch(SUITE)).text() : await Bun.file(path).text();
const { tests } = JSON.parse(text) as { readonly tests: readonly Case[] };

function holds({ template, data = {}, result, results = [], invalid }: Case): boolean {
  try {
    const rendered = textLiquid.render(textLiquid.parse(template), { names: data, now: Date.now() });
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
