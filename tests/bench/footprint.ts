import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../support/service.ts';
import { memoryOf } from './memory.ts';
import type { Row } from './table.ts';
import type { Section, Workbench } from './workbench.ts';

const STARTS = 5;

/** The median time from the start of the process to the first answer, and its memory when nothing happens. */
async function measure(
  bench: Workbench,
  env: Record<string, string>,
): Promise<{ readonly first: number; readonly later: number; readonly idle: number }> {
  const { executable } = bench.scale;
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-footprint-'));
  const times: number[] = [];
  let idle = 0;
  for (let n = 0; n <= STARTS; n++) {
    const start = performance.now();
    await using service = await startService({
      env,
      dataDir,
      ...(executable ? { command: [executable] } : {}),
    });
    times.push(performance.now() - start);
    if (n === STARTS) {
      await Bun.sleep(3_000);
      idle = memoryOf(service.pid).now;
    }
    await service.stop();
  }
  rmSync(dataDir, { recursive: true, force: true });
  const [first = 0, ...later] = times;
  return { first, later: later.sort((a, b) => a - b)[Math.floor(later.length / 2)] ?? 0, idle };
}

/** The time of a start, the memory at rest, the size of the executable. */
export const footprint: Section = {
  name: 'footprint',
  async run(bench) {
    bench.say('Starting and stopping …');
    const { executable } = bench.scale;
    const secret = { SECRET_KEY: 'a bench has no secrets, but needs a key' };
    const server = await measure(bench, { DATABASE_URL: await bench.database('bench_footprint'), ...secret });
    const embedded = await measure(bench, {});
    const rowsOf = (where: string, { first, later, idle }: typeof server): readonly Row[] => [
      { what: `(f) first start ${where}, until it answers`, amount: { value: first, unit: 'ms' } },
      { what: `(f) later starts ${where}`, amount: { value: later, unit: 'ms' } },
      { what: `(f) idle memory ${where}`, amount: { value: idle, unit: 'MB' } },
    ];
    const rows = [...rowsOf('on PostgreSQL', server), ...rowsOf('with the embedded database', embedded)];
    if (!executable) return rows;
    return [
      ...rows,
      { what: '(f) the executable', amount: { value: statSync(executable).size / 1e6, unit: 'MB' } },
    ];
  },
};
