import { readFileSync } from 'node:fs';
import { printCapacity } from '../tests/bench/capacity/page.ts';
import type { Measured } from '../tests/bench/results.ts';
import { keepFresh } from './fresh.ts';

// The capacity in docs/scale.md is computed from what the bench has stored.

const PAGE = 'docs/scale.md';
const RESULTS = 'tests/bench/results.json';
const START = '<!-- capacity: written by `bun run generate` from tests/bench/results.json -->';
const END = '<!-- end of capacity -->';

const measured = JSON.parse(readFileSync(RESULTS, 'utf8')) as readonly Measured[];
const page = readFileSync(PAGE, 'utf8');
const [before, rest] = page.split(START);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined)
  throw new Error(`${PAGE} lacks the lines "${START}" and "${END}".`);
keepFresh(PAGE, `${before}${START}\n\n${printCapacity(measured)}\n\n${END}${after}`);
