/** This process among all that deliver: what one receiving site is given is divided among them. */
export interface Part {
  /** The number of processes, including this one. */
  readonly of: number;
  /** Its place among them, from 0. */
  readonly rank: number;
  /** False as long as others may not know of it, and so use what is to be its own. */
  readonly isKnown: boolean;
}

/** The only process. */
export const WHOLE: Part = { of: 1, rank: 0, isKnown: true };

/**
 * The connections of one process. What does not divide evenly goes to those that come first, so that nobody's
 * part grows because another process joins. One that is not known yet has a single connection, and so has one
 * for which there are too few: nothing of what it was given to deliver would ever leave otherwise.
 */
export const connectionsOf = (all: number, { of, rank, isKnown }: Part): number =>
  isKnown ? Math.max(1, Math.ceil((all - rank) / of)) : 1;

/** The messages a minute of one process. */
export const messagesOf = (all: number, { of }: Part): number => all / of;
