import { availableParallelism } from 'node:os';

/**
 * Loops that run where nothing else wants to (SCHED_IDLE): a measurement at low load then has cores that are awake, and that share
 * with their neighbour what cores of one chip share, as under load.
 */
export function keepCoresAwake(): Disposable {
  const chrt = Bun.which('chrt');
  const command = [
    ...(chrt ? [chrt, '--idle', '0'] : ['nice', '-n', '19']),
    'sh',
    '-c',
    'while :; do :; done',
  ];
  const loops = Array.from({ length: availableParallelism() }, () =>
    Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }),
  );
  return {
    [Symbol.dispose]() {
      for (const loop of loops) loop.kill('SIGKILL');
    },
  };
}
