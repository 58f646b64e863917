import type { ChaosSetting, CrashPoint } from '../config/chaos-setting.ts';

/** Passed by at a named point; does not come back from the one that is set. */
export type CrashAt = (point: CrashPoint) => void;

/**
 * Kills the process as `kill -9` does when it has passed a point often enough. A statement that was handed over is given
 * a moment, so that the kill finds it anywhere between here and the database's disk.
 */
export function crashAt(crash: ChaosSetting['crash']): CrashAt {
  if (!crash) return () => {};
  let visits = 0;
  const die = () => process.kill(process.pid, 'SIGKILL');
  return (point) => {
    if (point !== crash.at || ++visits !== crash.visit) return;
    if (point.endsWith('.sent')) setTimeout(die, crash.afterMs);
    else die();
  };
}
