import {
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  type Node,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import { use, useEffect, useMemo, useRef } from 'react';
import { arrowId, arrowsOf, labelOf, START, stayingIn } from '../../drawing/arrows.ts';
import type { Layout, Point } from '../../drawing/layout.ts';
import type { Machine } from '../../modules/inspector/model.ts';
import { titleOf } from './format.ts';
import { TourContext } from './highlight.ts';
import { layouts } from './layouts.ts';
import type { Live } from './live.ts';
import { type LineData, MoveLine } from './move-line.tsx';
import { toneOf } from './state-color.ts';
import { FrameNode, StartNode, type StateData, StateNode, TitleNode } from './state-node.tsx';

interface CanvasProps {
  readonly machines: readonly Machine[];
  readonly live: Live;
  readonly chosen: { readonly kind: string | null; readonly state: string | null };
  readonly onChoose: (kind: string, state: string) => void;
}

const nodeTypes = { frame: FrameNode, state: StateNode, start: StartNode, title: TitleNode };
const edgeTypes = { line: MoveLine };
const FIT = { padding: 0.06, maxZoom: 1.1 };
const GAP = 130;
const NARROW = 600;

/** For a machine that no build has laid out: its states beneath each other. */
function stacked({ drawing }: Machine): Layout {
  const names = [START, ...drawing.states.map(({ name }) => name)];
  const states = Object.fromEntries(
    names.map((name, index) => [
      name,
      { x: 0, y: index * 130, width: name === START ? 14 : 212, height: name === START ? 14 : 110 },
    ]),
  );
  return { width: 212, height: names.length * 130, states, lines: [] };
}

/** Puts machines into as many columns as make the whole most like a square, each where there is most room. */
function origins(placed: readonly Layout[]): readonly Point[] {
  const tries = [1, 2, 3, 4].map((count) => inColumns(placed, count));
  return tries.toSorted((a, b) => a.extent - b.extent)[0]?.points ?? [];
}

function inColumns(
  placed: readonly Layout[],
  count: number,
): { readonly points: readonly Point[]; readonly extent: number } {
  const columns = Array.from({ length: count }, () => ({ height: 0, width: 0 }));
  const cells = placed.map(({ width, height }) => {
    const column = columns.toSorted((a, b) => a.height - b.height)[0] as { height: number; width: number };
    const cell = { column, y: column.height };
    column.height += height + GAP;
    column.width = Math.max(column.width, width + GAP);
    return cell;
  });
  const left = (column: object) =>
    columns.slice(0, columns.indexOf(column as never)).reduce((sum, { width }) => sum + width, 0);
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const points = cells.map(({ column, y }) => ({ x: left(column), y }));
  return { points, extent: Math.max(width, ...columns.map(({ height }) => height)) };
}

function partsOf({ machines, live, chosen, onChoose }: CanvasProps): { nodes: Node[]; edges: Edge[] } {
  const placed = machines.map((machine) => layouts[machine.drawing.id] ?? stacked(machine));
  const at = origins(placed);
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  machines.forEach((machine, index) => {
    const { kind, drawing, transient } = machine;
    const { states, lines, width, height } = placed[index] as Layout;
    const { x, y } = at[index] as Point;
    const position = (name: string) => ({ x: x + (states[name]?.x ?? 0), y: y + (states[name]?.y ?? 0) });
    if (machines.length > 1)
      nodes.push({
        id: `${kind} title`,
        type: 'title',
        position: { x, y: y - 62 },
        data: { title: titleOf(kind), width },
      });
    // Labels stick out beyond the states; the whole picture is what has to fit.
    nodes.push({ id: `${kind} frame`, type: 'frame', position: { x, y }, width, height, data: {} });
    nodes.push({ id: `${kind}/${START}`, type: 'start', position: position(START), data: {} });
    for (const state of drawing.states) {
      const data: StateData = {
        kind,
        state,
        staying: stayingIn(drawing, state.name),
        transient: transient.includes(state.name),
        tone: toneOf(machine, state.name),
        live,
        chosen: chosen.kind === kind && chosen.state === state.name,
        onChoose,
      };
      const { width: w = 0, height: h = 0 } = states[state.name] ?? {};
      nodes.push({
        id: `${kind}/${state.name}`,
        type: 'state',
        position: position(state.name),
        width: w,
        height: h,
        data,
      });
    }
    for (const arrow of arrowsOf(drawing)) {
      const line = lines.find(({ id }) => id === arrowId(arrow.from, arrow.to));
      if (!line) continue;
      const data: LineData = {
        kind,
        line: arrow.id,
        drawing,
        points: line.points.map((point) => ({ x: point.x + x, y: point.y + y })),
        label: { ...line.label, x: line.label.x + x, y: line.label.y + y },
        text: labelOf(arrow),
        live,
      };
      edges.push({
        id: `${kind}/${arrow.id}`,
        source: `${kind}/${arrow.from}`,
        target: `${kind}/${arrow.to}`,
        type: 'line',
        data,
      });
    }
  });
  return { nodes, edges };
}

/** The machines, drawn from their own definitions. */
export function Canvas(props: CanvasProps) {
  const { machines } = props;
  return (
    <ReactFlowProvider key={machines.map(({ kind }) => kind).join()}>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow(props: CanvasProps) {
  const { machines, live, chosen, onChoose } = props;
  const { kind, state } = chosen;
  const { nodes, edges } = useMemo(
    () => partsOf({ machines, live, chosen: { kind, state }, onChoose }),
    [machines, live, kind, state, onChoose],
  );
  const frame = useRef<HTMLDivElement>(null);
  const { fitView } = useReactFlow();
  const tour = use(TourContext);
  const visited = tour ? [...tour.visited].join() : '';
  // Where there is little room, an open life takes all of it.
  useEffect(() => {
    if (visited === '' || (frame.current?.clientWidth ?? 0) > NARROW) return;
    const nodes = [START, ...visited.split(',')].map((name) => ({ id: `${kind}/${name}` }));
    const wait = window.setTimeout(
      () => void fitView({ nodes, padding: 0.12, maxZoom: 1, duration: 350 }),
      140,
    );
    return () => window.clearTimeout(wait);
  }, [fitView, kind, visited]);
  useEffect(() => {
    if (!frame.current) return;
    let wait = 0;
    const watcher = new ResizeObserver(() => {
      window.clearTimeout(wait);
      wait = window.setTimeout(() => void fitView({ ...FIT, duration: 250 }), 60);
    });
    watcher.observe(frame.current);
    return () => {
      window.clearTimeout(wait);
      watcher.disconnect();
    };
  }, [fitView]);
  return (
    <div ref={frame} className="absolute inset-0">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        fitView
        fitViewOptions={FIT}
        minZoom={0.08}
        maxZoom={2}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        zoomOnDoubleClick={false}
      >
        <Background variant={BackgroundVariant.Dots} gap={22} size={1.4} />
        <Controls showInteractive={false} position="bottom-left" className="max-md:hidden" />
      </ReactFlow>
    </div>
  );
}
