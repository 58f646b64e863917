import { InvalidArgumentError } from 'commander';

/** The output formats of `posthorn machines`. */
export const MACHINE_FORMATS = ['mermaid', 'json', 'stately'] as const;

export type MachineFormat = (typeof MACHINE_FORMATS)[number];

/**
 * The word for the database in the data directory; with a colon and a folder behind it, for one in that
 * folder.
 */
export const EMBEDDED = 'embedded';

/** Reads a time (ISO 8601) as epoch milliseconds. @throws InvalidArgumentError */
export function momentOf(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new InvalidArgumentError('It must be a time such as 2026-11-20T12:00:00Z.');
  return at;
}

/** Reads a whole number from 1 on. @throws InvalidArgumentError */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}

/** Reads 1, 2 or 3. @throws InvalidArgumentError */
export function oneToThree(text: string): number {
  if (!/^[123]$/.test(text)) throw new InvalidArgumentError('It must be 1, 2 or 3.');
  return Number(text);
}
