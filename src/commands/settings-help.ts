import { SETTINGS, type Setting } from '../config/settings.ts';

const INDENT = 26;

/** The configuration as a table for a terminal. */
export function settingsHelp(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(([name, { about, kind, otherwise }]) => {
    const details = `${kind.allowed} (${otherwise})`;
    return `  ${name.padEnd(INDENT - 2)}${about}\n${' '.repeat(INDENT)}${details}`;
  });
  return [
    '',
    'Configuration, from the environment (without it, what stands in brackets):',
    '',
    ...rows,
    '',
  ].join('\n');
}
