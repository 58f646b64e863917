import { parseArgs } from 'node:util';
import { makeMessages } from '../browser/visual-messages.ts';

// Makes messages with the visual editor by generated acts, sends each over SMTP, and compares what left with
// the preview:
//
//   bun tests/failure/visual-messages-long.ts [--count 40] [--browser 10] [--seed 1]

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '40' },
    browser: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
});
let [total, wrong] = [0, 0];
const given = { count: Number(values.count), inBrowser: Number(values.browser), seed: Number(values.seed) };
await makeMessages(given, ({ seed, isOfBrowser, blocks, octets, problems }) => {
  total++;
  if (problems.length > 0) wrong++;
  const way = isOfBrowser ? 'in Chromium' : 'by commands';
  console.log(
    `${seed} ${way}: ${blocks} blocks, ${octets} characters${problems.map((each) => `; ${each}`).join('')}`,
  );
});
console.log(`${total} messages, ${wrong} wrong.`);
process.exit(wrong > 0 ? 1 : 0);
