/** Processor time of a batch in microseconds: a fixed part, and a part for each email in it. */
export interface Cost {
  readonly fixed: number;
  readonly each: number;
}

/** The measurement at one size of bursts. */
export interface CostPoint {
  /** Batches an email: 0.1 where a batch holds ten. */
  readonly batches: number;
  /** Microseconds an email. */
  readonly spent: number;
}

/**
 * The cost that lies nearest to what was measured (least squares, an email each); neither part is less than
 * nothing.
 */
export function fitCost(points: readonly CostPoint[]): Cost {
  const mean = (of: (point: CostPoint) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [batches, spent] = [mean((point) => point.batches), mean((point) => point.spent)];
  const spread = mean((point) => (point.batches - batches) ** 2);
  const common = mean((point) => (point.batches - batches) * (point.spent - spent));
  const fixed = spread === 0 ? 0 : Math.max(0, common / spread);
  const each = spent - fixed * batches;
  // Through the origin, where what a batch takes explains everything.
  return each >= 0 ? { fixed, each } : { fixed: spent / batches, each: 0 };
}

/** The cost of that many batches with that many emails. */
export const spentBy = ({ fixed, each }: Cost, batches: number, emails: number): number =>
  fixed * batches + each * emails;
