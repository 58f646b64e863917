import type { ChaosSetting, CrashPoint } from '../../../platform/config/settings/chaos-setting.ts';

/** Called at each crash point; it does not return from the configured one. */
export type CrashAt = (point: CrashPoint) => void;

/**
 * Kills the process like `kill -9` at the configured visit to the configured point. After a statement was
 * sent, the kill comes a few milliseconds later, so that it can hit any moment between the send and the write
 * to the database's disk.
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
