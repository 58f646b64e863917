/** The most labels beneath a chart. */
const MOST_TICKS = 5;

/** Points at even distances, the first and the last among them. */
export function ticksOf<Each>(points: readonly Each[]): readonly Each[] {
  const number = Math.min(points.length, MOST_TICKS);
  if (number < 2) return points.slice(0, number);
  return Array.from(
    { length: number },
    (_, index) => points[Math.round((index * (points.length - 1)) / (number - 1))] as Each,
  );
}
