// Renders while the process that started it holds this one still most of the time, and tells what came of each.

import { createMarkdownRenderer } from '../../src/mail/content/markdown-renderer.ts';
import { LiquidProblem } from '../../src/mail/liquid/limits.ts';
import { createLiquidRenderer } from '../../src/mail/liquid/liquid-renderer.ts';
import { Failure } from '../../src/platform/errors/failure.ts';

const [markdown, liquid] = [createMarkdownRenderer({ deadlineMs: 1_000 }), createLiquidRenderer()];
const PROSE = 'Some *words* of [prose](https://x.co).\n\n'.repeat(300);
const LOOP = '{% for i in (1..1500) %}{{ i | append: "<" | upcase }}{% endfor %}';

/** Processor time of both, so that the test knows that they had to be held still for it. */
const render = async (): Promise<readonly string[]> => {
  const made = await markdown.render(PROSE, { owner: 'ours' });
  const read = await liquid.examine('ours', { text: LOOP });
  const rendered = await liquid.render({
    ...{ owner: 'ours', key: null },
    sources: { subject: null, previewText: null, html: null, text: LOOP },
    scope: { names: {}, now: 0 },
  });
  return [
    made instanceof Failure ? made.code : 'markdown',
    read instanceof LiquidProblem ? read.message : 'read',
    rendered instanceof LiquidProblem ? rendered.message : 'rendered',
  ];
};

await render();
process.stdout.write('ready\n');
for await (const _ of process.stdin) break;
const before = performance.now();
const outcomes: string[] = [];
for (let count = 0; count < 3; count++) outcomes.push(...(await render()));
process.stdout.write(`${JSON.stringify({ outcomes, tookMs: performance.now() - before })}\n`);
process.exit(0);
