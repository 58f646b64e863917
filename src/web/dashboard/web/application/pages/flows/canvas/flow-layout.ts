import { Graph, layout } from '@dagrejs/dagre';
import type { FlowDefinition } from '../../../../../../../../machines/flow-run/definition.ts';
import { waysOf } from '../../../../../../../../machines/flow-run/definition.ts';
import type { Box, Point } from '../../../../../../../engine/drawing/layout.ts';
import { START, targetOf, type Way, wayId } from '../definition.ts';

const CARD = { width: 248, height: 76 };
/** A line of a problem beneath a card's text. */
const PROBLEM_LINE = 22;
const PLUS = { width: 28, height: 28 };
/** A path with a name, or one without a target. */
const NAMED = { width: 148, height: 28 };

/** A way with its place in the drawing. */
export interface DrawnWay extends Way {
  readonly id: string;
  readonly to: string | null;
}

/** A line between two boxes. */
export interface DrawnLine {
  readonly id: string;
  readonly points: readonly Point[];
  /** The way that the line is a part of. */
  readonly way: string;
  readonly hasTip: boolean;
}

/** A flow on the screen: a box for the trigger, for each step and for each path. */
export interface FlowLayout {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly ways: readonly DrawnWay[];
  readonly lines: readonly DrawnLine[];
}

/** All ways of a flow, each behind the step that it leaves. */
function allWays(definition: FlowDefinition): readonly DrawnWay[] {
  const ways: readonly Way[] = [
    { from: null, when: 'default' },
    ...definition.steps.flatMap((step) => waysOf(step).map((when) => ({ from: step.key, when }))),
  ];
  return ways.map((way) => {
    const to = targetOf(definition, way);
    const isThere = definition.steps.some(({ key }) => key === to);
    return { ...way, id: wayId(way), to: isThere ? to : null };
  });
}

/** True when a path is drawn as a plus alone: it is the only one, and leads on. */
const isPlain = ({ from, to, when }: DrawnWay, { steps }: FlowDefinition): boolean => {
  const step = steps.find(({ key }) => key === from);
  return to !== null && (step === undefined || (when === 'default' && waysOf(step).length === 1));
};

/**
 * The name of a node in the graph, whose nodes are members of an object: a step may have the key
 * `constructor`.
 */
const nodeOf = (id: string): string => `:${id}`;

/** Places the steps of a flow beneath each other, with the ways between them. */
export function layoutOf(definition: FlowDefinition, hasProblem: (key: string) => boolean): FlowLayout {
  const ways = allWays(definition);
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', ranksep: 24, nodesep: 36, edgesep: 20 });
  graph.setDefaultEdgeLabel(() => ({}));
  const card = (key: string) => ({
    width: CARD.width,
    height: CARD.height + (hasProblem(key) ? PROBLEM_LINE : 0),
  });
  graph.setNode(nodeOf(START), card(''));
  for (const { key } of definition.steps) graph.setNode(nodeOf(key), card(key));
  for (const way of ways) {
    graph.setNode(nodeOf(way.id), isPlain(way, definition) ? { ...PLUS } : { ...NAMED });
    graph.setEdge(nodeOf(way.from ?? START), nodeOf(way.id));
    if (way.to !== null) graph.setEdge(nodeOf(way.id), nodeOf(way.to));
  }
  layout(graph);
  const boxes = new Map(
    graph.nodes().map((id): [string, Box] => {
      const { x = 0, y = 0, width = 0, height = 0 } = graph.node(id) as Partial<Box>;
      return [id.slice(nodeOf('').length), { x: x - width / 2, y: y - height / 2, width, height }];
    }),
  );
  const gaps = gapsBetween([...boxes.values()]);
  const lineOf = (from: string, to: string): readonly Point[] => {
    const { points = [] } = graph.edge(nodeOf(from), nodeOf(to)) as { readonly points?: readonly Point[] };
    return routed(boxes.get(from) as Box, boxes.get(to) as Box, points.slice(1, -1), gaps);
  };
  return {
    boxes,
    ways,
    lines: ways.flatMap((way) => [
      {
        id: `${way.id} a`,
        way: way.id,
        points: through(lineOf(way.from ?? START, way.id), boxes.get(way.id), isPlain(way, definition)),
        hasTip: false,
      },
      ...(way.to === null
        ? []
        : [{ id: `${way.id} b`, way: way.id, points: lineOf(way.id, way.to), hasTip: true }]),
    ]),
  };
}

/** The line continues beneath a plus, which may be hidden. */
const through = (points: readonly Point[], box: Box | undefined, isPlus: boolean): readonly Point[] =>
  box && isPlus ? [...points, { x: centreOf(box), y: box.y + box.height }] : points;

/** The middles of the free stripes between the rows, in which lines may run across. */
function gapsBetween(boxes: readonly Box[]): readonly number[] {
  const rows = new Map<number, { top: number; bottom: number }>();
  for (const { y, height } of boxes) {
    const centre = Math.round(y + height / 2);
    const row = rows.get(centre) ?? { top: y, bottom: y + height };
    rows.set(centre, { top: Math.min(row.top, y), bottom: Math.max(row.bottom, y + height) });
  }
  const sorted = [...rows.values()].toSorted((a, b) => a.top - b.top);
  return sorted.slice(1).map(({ top }, index) => ((sorted[index]?.bottom ?? top) + top) / 2);
}

const centreOf = ({ x, width }: Box): number => x + width / 2;

/**
 * The way of a line: down, across in a free stripe, down. One that goes back up leaves and arrives at the
 * sides.
 */
function routed(from: Box, to: Box, between: readonly Point[], gaps: readonly number[]): readonly Point[] {
  if (to.y < from.y) {
    const [first] = between;
    const aside = first?.x ?? Math.max(from.x + from.width, to.x + to.width) + 24;
    const isRight = aside > centreOf(from);
    const edge = (box: Box): Point => ({ x: isRight ? box.x + box.width : box.x, y: box.y + box.height / 2 });
    const lane = isRight
      ? Math.max(aside, from.x + from.width + 16, to.x + to.width + 16)
      : Math.min(aside, from.x - 16, to.x - 16);
    return [edge(from), { x: lane, y: edge(from).y }, { x: lane, y: edge(to).y }, edge(to)];
  }
  const stops = [{ x: centreOf(from), y: from.y + from.height }, ...between, { x: centreOf(to), y: to.y }];
  return stops.flatMap((stop, index): readonly Point[] => {
    const next = stops[index + 1];
    if (!next) return [stop];
    if (Math.abs(next.x - stop.x) < 1) return index === 0 ? [stop] : [];
    const stripe = gaps.find((middle) => middle > stop.y && middle <= next.y + 1);
    const across = stripe ?? (stop.y + next.y) / 2;
    return [...(index === 0 ? [stop] : []), { x: stop.x, y: across }, { x: next.x, y: across }];
  });
}
