import type { Email } from '../support/live-service.ts';

/** The problems of a code as `line path`. */
export const places = (problems: Email[], code: string): string[] =>
  problems.flatMap((one) => (one.code === code ? [`${one.line} ${one.path}`] : []));

/** The messages of the problems of a code, a line each. */
export const words = (problems: Email[], code: string): string =>
  problems.flatMap((one) => (one.code === code ? [one.message] : [])).join('\n');
