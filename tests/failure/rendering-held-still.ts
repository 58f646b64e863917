// Renders while the process that started it holds this one still most of the time, and tells what came of
// each.

import { createMarkdownRenderer } from '../../src/mail/content/markdown-renderer.ts';
import { LiquidProblem } from '../../src/mail/liquid/limits.ts';
import { createLiquidRenderer } from '../../src/mail/liquid/liquid-renderer.ts';
import { Failure } from '../../src/platform/errors/failure.ts';

/** The limit of one rendering. */
const DEADLINE_MS = 1_000;
const [markdown, liquid] = [createMarkdownRenderer({ deadlineMs: DEADLINE_MS }), createLiquidRenderer()];
const PROSE = 'Some *words* of [prose](https://x.co).\n\n'.repeat(300);
const LOOP = '{% for i in (1..1500) %}{{ i | append: "<" | upcase }}{% endfor %}';

let longestMs = 0;
const timed = async <Result>(work: Promise<Result>): Promise<Result> => {
  const before = performance.now();
  const result = await work;
  longestMs = Math.max(longestMs, performance.now() - before);
  return result;
};

const render = async (): Promise<readonly string[]> => {
  const made = await timed(markdown.render(PROSE, { owner: 'ours' }));
  const read = await timed(liquid.examine('ours', { text: LOOP }));
  const rendered = await timed(
    liquid.render({
      owner: 'ours',
      key: null,
      sources: { subject: null, previewText: null, html: null, text: LOOP },
      scope: { names: {}, now: 0 },
    }),
  );
  return [
    made instanceof Failure ? made.code : 'markdown',
    read instanceof LiquidProblem ? read.message : 'read',
    rendered instanceof LiquidProblem ? rendered.message : 'rendered',
  ];
};

await render();
process.stdout.write('ready\n');
for await (const _ of process.stdin) break;
longestMs = 0;
const outcomes: string[] = [];
// A fast machine may be between two renderings whenever it is held still, so that the rounds go on until one
// was caught.
while (longestMs <= DEADLINE_MS) outcomes.push(...(await render()));
process.stdout.write(`${JSON.stringify([...new Set(outcomes)])}\n`);
process.exit(0);
