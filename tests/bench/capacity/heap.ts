/** A binary heap: the least comes out first. */
export class Heap<T> {
  readonly #items: T[] = [];

  constructor(private readonly isLess: (a: T, b: T) => boolean) {}

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.isLess(item, items[above] as T)) break;
      items[at] = items[above] as T;
      at = above;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return least;
    let at = 0;
    for (;;) {
      let below = at * 2 + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && this.isLess(items[below + 1] as T, items[below] as T)) below++;
      if (!this.isLess(items[below] as T, last)) break;
      items[at] = items[below] as T;
      at = below;
    }
    items[at] = last;
    return least;
  }
}
