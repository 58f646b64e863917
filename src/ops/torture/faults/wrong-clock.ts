// Bound before the clock is set wrong.
const trueNow = Date.now.bind(Date);

/** The true time. */
export const outsideNow = (): number => trueNow();

/** Sets the clock of this process wrong, for all code in it, packages included. */
export function setClockWrong(byMs: number): void {
  const True = Date;
  const now = (): number => trueNow() + byMs;
  globalThis.Date = new Proxy(True, {
    construct: (target, given: unknown[], made) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, made) as object,
    apply: () => new True(now()).toString(),
    get: (target, name, self) => (name === 'now' ? now : Reflect.get(target, name, self)),
  });
}
