import type { Setting } from '../../platform/config/settings/setting.ts';
import { SETTINGS } from '../../platform/config/settings/settings.ts';

/** Two spaces on either side of the longest name. */
const INDENT = 4 + Math.max(...Object.keys(SETTINGS).map((name) => name.length));

/** The configuration as a table for a terminal. */
export function settingsHelp(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(([name, { about, kind, otherwise }]) => {
    const details = `${kind.allowed} (${otherwise})`;
    return `  ${name.padEnd(INDENT - 2)}${about}\n${' '.repeat(INDENT)}${details}`;
  });
  return ['', 'Configuration, from the environment (defaults in brackets):', '', ...rows, ''].join('\n');
}
