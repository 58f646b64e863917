import { wholeLives } from './lives.ts';
import type { Section } from './workbench.ts';

/** Two instances against one, on the same database and the same cores: sharing must cost nothing. */
export const instances: Section = {
  name: 'instances',
  async run(bench) {
    const count = bench.scale.emails;
    const url = await bench.database('bench_instances');
    await using first = await bench.service(url);
    await wholeLives(url, [first.port], 16, 4_000);
    bench.say('Whole lives through one instance …');
    const one = await wholeLives(url, [first.port], 128, count);
    await using second = await bench.service(url);
    await wholeLives(url, [second.port], 16, 4_000);
    bench.say('Whole lives through two instances …');
    const two = await wholeLives(url, [first.port, second.port], 128, count);
    return [
      { what: '(i) whole lives, 128 connections, one instance', ...one },
      { what: '(i) the same through two instances', ...two },
    ];
  },
};
