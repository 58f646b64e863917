/** htmlparser2 takes time with the square of the depth; emails nest their tables thirty deep. */
export const DEEPEST_HTML = 1_000;
