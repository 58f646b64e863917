import { resolve } from 'node:path';
import { sessionCookie } from '../integration/inspector-viewer.ts';
import { eventually } from '../support/eventually.ts';
import { type Service, TEST_KEY } from '../support/service.ts';
import { wholeLives } from './lives.ts';
import type { Row } from './table.ts';
import { type OneRound, type Ratios, takeTurns } from './turns.ts';
import type { Section, Workbench } from './workbench.ts';

const VIEWERS = 10;
const CONNECTIONS = 128;
const TWIN = 'a twin process, nobody looks (the noise)';
const MAIN = resolve(import.meta.dir, '../../src/main.ts');
const UNWIRED = ['--preload', resolve(import.meta.dir, 'without-listeners.ts')];

/** Sockets of people who look, and what they were told in all. */
class Audience implements Disposable {
  heard = 0;
  readonly #sockets: WebSocket[] = [];

  /**
   * Opens sockets as the page (/inspector/live, with a cookie) or as Stately's tools (/inspect, with a key)
   * do.
   */
  static async gather(url: string, path: string, headers: Record<string, string>): Promise<Audience> {
    const audience = new Audience();
    for (let n = 0; n < VIEWERS; n++) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers } as never);
      socket.onmessage = () => void audience.heard++;
      audience.#sockets.push(socket);
    }
    await eventually('the viewers are let in', async () =>
      audience.#sockets.every(({ readyState }) => readyState === WebSocket.OPEN) ? true : undefined,
    );
    return audience;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.close();
  }
}

interface House {
  readonly service: Service;
  readonly url: string;
  /** The service whose pages people watch; the measured one when absent. */
  readonly other?: Service;
}

/**
 * A service on a separate database, from source whatever is benched: the unwired one cannot be the
 * executable.
 */
async function house(bench: Workbench, name: string, flags: readonly string[]): Promise<House> {
  const url = await bench.database(name);
  return { url, service: await bench.service(url, {}, [process.execPath, ...flags, MAIN]) };
}

/** Two instances on one database; the second one only answers requests. */
async function pair(bench: Workbench): Promise<Required<House>> {
  const first = await house(bench, 'bench_pair', []);
  const other = await bench.service(first.url, { ROLES: 'http' }, [process.execPath, MAIN]);
  return { ...first, other };
}

/**
 * Lives while people look, here or through another instance, without viewers, and in an engine without a live
 * view; in turns within one run.
 */
export const viewers: Section = {
  name: 'viewers',
  async run(bench) {
    const [wired, twin, unwired, paired] = [
      await house(bench, 'bench_wired', []),
      await house(bench, 'bench_twin', []),
      await house(bench, 'bench_unwired', UNWIRED),
      await pair(bench),
    ];
    await using first = wired.service;
    await using second = twin.service;
    await using third = unwired.service;
    await using fourth = paired.service;
    await using fifth = paired.other;
    void [second, third, fourth];
    const cookie = (await sessionCookie(first.url, { key: TEST_KEY })) ?? '';
    const cookieOfOther = (await sessionCookie(fifth.url, { key: TEST_KEY })) ?? '';
    const key = { authorization: `Bearer ${TEST_KEY}` };
    let heard = 0;
    const round =
      ({ service, url, other = service }: House, path?: string, headers: Record<string, string> = {}) =>
      async (count: number): Promise<OneRound> => {
        using audience = path === undefined ? null : await Audience.gather(other.url, path, headers);
        const spent = bench.meterCpu(service);
        const { perSecond } = await wholeLives(url, [service.port], CONNECTIONS, count);
        if (audience !== null && audience.heard < VIEWERS) throw new Error('The viewers heard nothing.');
        heard += audience?.heard ?? 0;
        return { perSecond, cpu: spent(count) };
      };
    const contenders = {
      'nobody looks': round(wired),
      [`${VIEWERS} viewers of /inspector`]: round(wired, '/inspector/live', { cookie }),
      [`${VIEWERS} clients of /inspect`]: round(wired, '/inspect', key),
      [TWIN]: round(twin),
      'an engine without a live view': round(unwired),
      'nobody looks, beside another instance': round(paired),
      [`${VIEWERS} viewers of the other instance`]: round(paired, '/inspector/live', {
        cookie: cookieOfOther,
      }),
    };
    bench.say('Viewers: warming up …');
    let count = 4_000;
    for (const one of [wired, twin, unwired, paired])
      count = Math.round((await wholeLives(one.url, [one.service.port], CONNECTIONS, 8_000)).perSecond * 5);
    const results = await takeTurns(contenders, bench.scale.rounds, count, (text) => bench.say(text));
    bench.remark(
      `Viewers: ${bench.scale.rounds} rounds of ${count} lives each; the ${3 * VIEWERS} sockets were told ${heard} messages.`,
    );
    const print = ({ median, least, most }: Ratios) =>
      `${median.toFixed(3)} (${least.toFixed(3)} to ${most.toFixed(3)})`;
    bench.remark(
      [
        '| against nobody looking, in the same round | rate: median (least to most) | CPU of the service a life |',
        '|---|---|---|',
        ...results.slice(1).map(({ name, rate, cost }) => `| ${name} | ${print(rate)} | ${print(cost)} |`),
      ].join('\n'),
    );
    return results.map(({ name, perSecond, cpu, rate }, index): Row => {
      const row = { what: `(v) whole lives, ${name}`, perSecond, cpu };
      return index === 0
        ? row
        : {
            ...row,
            over: { what: 'nobody looking', perSecond: perSecond / rate.median },
            ...(name === TWIN ? {} : { aim: 0.97 }),
          };
    });
  },
};
