// Read before anything is set wrong.
const trueNow = Date.now.bind(Date);

/** The time, whatever the machine's clock was made to say. */
export const outsideNow = (): number => trueNow();

/** Sets the clock of this process's machine wrong, for all code in it: ours and that of its packages. */
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
