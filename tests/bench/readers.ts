import { LIVE_KEY } from '../support/service.ts';
import { load, prepareGet } from './load.ts';

// Reads lists and analytics on and on, in a separate process that can be bound to separate processors, until
// its standard input ends; then it prints how many reads there were, and how many of them were not answered
// with 200.
//   bun tests/bench/readers.ts port readers

const [port, readers] = process.argv.slice(2).map(Number) as [number, number];
const PATHS = ['/v1/emails?limit=50', '/v1/emails?limit=50&subject=nothing', '/v1/analytics?interval=day'];

let isOver = false;
let [reads, bad] = [0, 0];
async function readOn(path: string): Promise<void> {
  const request = prepareGet(port, path, LIVE_KEY);
  while (!isOver) {
    const { requests, statuses } = await load(request, 1, 10);
    reads += requests;
    bad += requests - (statuses[200] ?? 0);
  }
}

const reading = Array.from({ length: readers }, (_, n) => readOn(PATHS[n % PATHS.length] as string));
console.log('reading');
for await (const _ of process.stdin);
isOver = true;
await Promise.all(reading);
console.log(JSON.stringify({ reads, bad }));
