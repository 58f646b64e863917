import ELK, { type ElkNode } from 'elkjs/lib/elk-api.js';
import { devDependencies } from '../../package.json';
import {
  type Arrow,
  arrowsOf,
  labelOf,
  START,
  stayingIn,
  transientStates,
} from '../../src/engine/drawing/arrows.ts';
import {
  type Box,
  compactName,
  type Layout,
  type Layouts,
  type Line,
  type Point,
} from '../../src/engine/drawing/layout.ts';
import type { Drawing, DrawnState } from '../../src/engine/drawing/moves.ts';
import { hashOf, keptFile } from './pack-files.ts';

// The sizes that state-node.tsx and move-line.tsx draw with. Text is measured by counting: names and labels
// are set in a font whose characters are all as wide as each other, and descriptions wrap early rather than
// late.

const WIDTH = 236;
const PADDING = 11;
const NAME_LINE = 24;
const TEXT_LINE = 15;
const CHIP_LINE = 17;
const CHARACTERS = 33;
const CAUSE_CHARACTER = 6.7;
const GUARD_CHARACTER = 5.4;
const LABEL_LINE = 14;
const LABEL_PADDING = 10;

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.edgeLabels.inline': 'true',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.thoroughness': '60',
  'elk.layered.spacing.nodeNodeBetweenLayers': '16',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '9',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '2',
  'elk.padding': '[top=4,left=4,bottom=4,right=4]',
} as const;

/** For a diagram that is one part of a page: from left to right, with names alone. */
const COMPACT_OPTIONS = {
  ...OPTIONS,
  'elk.direction': 'RIGHT',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.spacing.nodeNode': '40',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '12',
} as const;
const NAME_CHARACTER = 9.4;
const COMPACT_HEIGHT = 40;

/**
 * Lays machines out, which takes 30 s of processor time. The result is kept under the hash of all that it
 * depends on, so that a build and the test of the layouts share one computation.
 */
export async function layoutsOf(drawings: readonly Drawing[]): Promise<Layouts> {
  const graphs: Graphs = drawings.flatMap((drawing) => [
    [drawing.id, graphOf(drawing, false)] as const,
    [compactName(drawing.id), graphOf(drawing, true)] as const,
  ]);
  const key = hashOf(Buffer.from(JSON.stringify([devDependencies.elkjs, graphs])));
  return (await keptFile(`layouts-${key}.json`, () => laidOut(graphs))) as Layouts;
}

/** Each with the name of its layout. */
type Graphs = readonly (readonly [string, ElkNode])[];

/** ELK runs in a thread: without `document` it takes every global scope for a worker's. */
async function laidOut(graphs: Graphs): Promise<Layouts> {
  const elk = new ELK({
    workerFactory: () => new Worker(Bun.resolveSync('elkjs/lib/elk-worker.min.js', import.meta.dir)),
  });
  try {
    const layouts = graphs.map(async ([name, graph]) => [name, await layoutOf(elk, graph)] as const);
    return Object.fromEntries(await Promise.all(layouts));
  } finally {
    elk.terminateWorker();
  }
}

function graphOf(drawing: Drawing, isCompact: boolean): ElkNode {
  const arrows = arrowsOf(drawing);
  const transient = transientStates(drawing);
  return {
    id: drawing.id,
    layoutOptions: isCompact ? COMPACT_OPTIONS : OPTIONS,
    children: [
      { id: START, width: 14, height: 14 },
      ...drawing.states.map((state) => ({
        id: state.name,
        ...(isCompact ? compactSize(state) : sizeOf(drawing, state, transient)),
      })),
    ],
    edges: arrows.map((arrow) => ({
      id: arrow.id,
      sources: [arrow.from],
      targets: [arrow.to],
      labels: isCompact || labelOf(arrow).length === 0 ? [] : [{ text: arrow.id, ...labelSize(arrow) }],
    })),
  };
}

async function layoutOf(elk: InstanceType<typeof ELK>, graph: ElkNode): Promise<Layout> {
  const { width = 0, height = 0, children = [], edges = [] } = await elk.layout(graph);
  return {
    width,
    height,
    states: Object.fromEntries(children.map((child) => [child.id, boxOf(child)])),
    lines: edges.map(({ id, sections, labels }): Line => {
      const [section] = sections ?? [];
      const points: readonly Point[] = section
        ? [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]
        : [];
      const label = labels?.[0];
      return {
        id,
        points: points.map(({ x, y }) => ({ x: round(x), y: round(y) })),
        label: boxOf(label ?? {}),
      };
    }),
  };
}

function sizeOf(drawing: Drawing, { name, description }: DrawnState, transient: readonly string[]) {
  if (transient.includes(name)) return { width: Math.round(name.length * 7.4 + 40), height: 28 };
  const lines = Math.ceil(description.length / CHARACTERS);
  const chips = new Set(stayingIn(drawing, name).map(({ cause, guard }) => `${cause} ${guard}`)).size;
  return {
    width: WIDTH,
    height: 2 * PADDING + NAME_LINE + lines * TEXT_LINE + (chips === 0 ? 0 : 7 + chips * CHIP_LINE),
  };
}

const compactSize = ({ name }: DrawnState) => ({
  width: Math.round(name.length * NAME_CHARACTER + 44),
  height: COMPACT_HEIGHT,
});

function labelSize(arrow: Arrow) {
  const lines = labelOf(arrow);
  const widths = lines.map(
    ({ text, what }) => text.length * (what === 'cause' ? CAUSE_CHARACTER : GUARD_CHARACTER),
  );
  return { width: Math.max(0, ...widths) + LABEL_PADDING, height: lines.length * LABEL_LINE + 4 };
}

const round = (value: number): number => Math.round(value * 10) / 10;

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box => ({
  x: round(x),
  y: round(y),
  width: round(width),
  height: round(height),
});
