/** The parts without which a campaign cannot start, with the words of the refusal for want of each. */
const MISSING = {
  from: 'Set the sender (from) first; the workspace has no default sender.',
  subject: 'Set the subject first.',
  body: 'Set the content first: html, markdown, mjml or templateId.',
} as const;

interface RefusalDetail {
  readonly path: string;
  readonly message: string;
}

/**
 * The detail for a part that is missing. A part may come from a template or the workspace, so that no member
 * of a body is wrong.
 */
export const missing = (part: keyof typeof MISSING): RefusalDetail => ({
  path: '/body',
  message: MISSING[part],
});

/**
 * True of the detail for the sender. The dashboard gets the same words, by which alone an answer tells the
 * parts from each other.
 */
export const isForSender = ({ message }: Pick<RefusalDetail, 'message'>): boolean => message === MISSING.from;
