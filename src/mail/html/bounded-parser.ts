import { type Handler, Parser, type ParserOptions } from 'htmlparser2';

/** The limits of one reading. */
export interface ParserLimits {
  /** Elements within elements, wherever they are. */
  readonly deepest: number;
  /** Steps for all tags: each takes 100, and one more for each element that is open. A million take 10 ms. */
  readonly steps: number;
}

/** Steps of a tag on its own: 0.7 µs. */
const OF_TAG = 100;

/** A document exceeds a limit of its reading. */
export class ParserLimit extends Error {}

/**
 * A parser that throws ParserLimit at its limits. htmlparser2 searches and moves the list of all open
 * elements at each tag, also at an end tag that ends nothing and that no handler hears of: 10,000 of each
 * took a second.
 */
export function boundedParser(
  handlers: Partial<Handler>,
  options: ParserOptions,
  { deepest, steps }: ParserLimits,
): Parser {
  let depth = 0;
  let left = steps;
  const take = (): void => {
    left -= OF_TAG + depth;
    if (left < 0) throw new ParserLimit('The tags take too many steps.');
  };
  class BoundedParser extends Parser {
    override onopentagname(start: number, end: number): void {
      take();
      super.onopentagname(start, end);
    }
    override onclosetag(start: number, end: number): void {
      take();
      super.onclosetag(start, end);
    }
  }
  const counting: Partial<Handler> = {
    ...handlers,
    onopentagname(name) {
      if (++depth > deepest) throw new ParserLimit('The elements are nested too deeply.');
      handlers.onopentagname?.(name);
    },
    onclosetag(name, isImplied) {
      depth--;
      handlers.onclosetag?.(name, isImplied);
    },
  };
  return new BoundedParser(counting, options);
}
