/**
 * The text of a field as a request takes it: without white space around it, and null where it is empty. A
 * field knows texts alone, so every form translates by this one rule.
 */
export const orNull = (text = ''): string | null => text.trim() || null;
