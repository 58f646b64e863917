import { median } from './median.ts';
import type { CpuPerItem } from './table.ts';

/** The result of one turn. */
export interface OneRound {
  readonly perSecond: number;
  readonly cpu: CpuPerItem;
}

/** Ratios to the first contender in the same rounds. */
export interface Ratios {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** The result of all turns of one contender. */
export interface Turned extends OneRound {
  readonly name: string;
  readonly rate: Ratios;
  /** Of the service's processor time an item: above 1 it costs more. */
  readonly cost: Ratios;
}

/**
 * Lets contenders take turns, beginning with another one in each round: what drifts on the machine, or in
 * tables that grow, then falls on all of them alike. The first one is what the others are compared with.
 */
export async function takeTurns(
  contenders: Readonly<Record<string, (count: number) => Promise<OneRound>>>,
  rounds: number,
  count: number,
  say: (text: string) => void,
): Promise<readonly Turned[]> {
  const names = Object.keys(contenders);
  const turns: Record<string, OneRound>[] = [];
  for (let round = 0; round < rounds; round++) {
    const turn: Record<string, OneRound> = {};
    for (let n = 0; n < names.length; n++) {
      const name = names[(n + round) % names.length] as string;
      turn[name] = await (contenders[name] as (count: number) => Promise<OneRound>)(count);
    }
    turns.push(turn);
    say(
      `  round ${round + 1}: ${names.map((name) => `${name} ${Math.round(turn[name]?.perSecond ?? 0)}`).join(', ')}`,
    );
  }
  const [base = ''] = names;
  return names.map((name) => {
    const mine = turns.map((turn) => turn[name] as OneRound);
    const ratiosOf = (figure: (round: OneRound) => number): Ratios => {
      const ratios = turns.map((turn) => figure(turn[name] as OneRound) / figure(turn[base] as OneRound));
      return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
    };
    return {
      name,
      perSecond: median(mine.map(({ perSecond }) => perSecond)),
      cpu: {
        service: median(mine.map(({ cpu }) => cpu.service)),
        postgres: median(mine.map(({ cpu }) => cpu.postgres)),
      },
      rate: ratiosOf(({ perSecond }) => perSecond),
      cost: ratiosOf(({ cpu }) => cpu.service),
    };
  });
}
