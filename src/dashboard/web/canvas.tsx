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
import { useEffect, useMemo, useRef } from 'react';
import type { Machine } from '../../modules/inspector/model.ts';
import { arrowId, arrowsOf, labelOf, START, stayingIn } from '../../drawing/arrows.ts';
import type { Layout, Point } from '../../drawing/layout.ts';
import { layouts } from './layouts.ts';
import type { Live } from './live.ts';
import { type LineData, MoveLine } from './move-line.tsx';
import { StartNode, type StateData, StateNode, TitleNode } from './state-node.tsx';
import { toneOf } from './tone.ts';
import { titleOf } from './words.ts';

interface CanvasProps {
  readonly machines: readonly Machine[];
  readonly live: Live;
  readonly chosen: { readonly kind: string | null; readonly state: string | null };
  readonly onChoose: (kind: string, state: string) => void;
}

const nodeTypes = { state: StateNode, start: StartNode, title: TitleNode };
const edgeTypes = { line: MoveLine };
const FIT = { padding: 0.06, maxZoom: 1.1 };
const GAP = 130;

/** For a machine that no build has laid out: its states beneath each other. */
function stacked({ drawing }: Machine): Layout {
  const names = [START, ...drawing.states.map(({ name }) => name)];
  const states = Object.fromEntries(
    names.map((name, index) => [name, { x: 0, y: index * 130, width: name === START ? 14 : 212, height: name === START ? 14 : 110 }]),
  );
  return { width: 212, height: names.length * 130, states, lines: [] };
}

/** Puts machines onto the canvas: one as it is, several in columns, the next always where there is most room. */
function origins(placed: readonly Layout[]): readonly Point[] {
  if (placed.length === 1) return [{ x: 0, y: 0 }];
  const [first, ...rest] = placed;
  const points: Point[] = [{ x: 0, y: 0 }];
  const left = (first?.width ?? 0) + GAP;
  const columns = [
    { x: left, y: 0, width: Math.max(0, ...rest.map(({ width }) => width)) },
    { x: left + Math.max(0, ...rest.map(({ width }) => width)) + GAP, y: 0, width: 0 },
  ];
  for (const { height } of rest) {
    const column = columns.toSorted((a, b) => a.y - b.y)[0] as { x: number; y: number };
    points.push({ x: column.x, y: column.y });
    column.y += height + GAP;
  }
  return points;
}

function partsOf({ machines, live, chosen, onChoose }: CanvasProps): { nodes: Node[]; edges: Edge[] } {
  const placed = machines.map((machine) => layouts[machine.drawing.id] ?? stacked(machine));
  const at = origins(placed);
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  machines.forEach((machine, index) => {
    const { kind, drawing, transient } = machine;
    const { states, lines, width } = placed[index] as Layout;
    const { x, y } = at[index] as Point;
    const position = (name: string) => ({ x: x + (states[name]?.x ?? 0), y: y + (states[name]?.y ?? 0) });
    if (machines.length > 1)
      nodes.push({ id: `${kind} title`, type: 'title', position: { x, y: y - 62 }, data: { title: titleOf(kind), width } });
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
        <Controls showInteractive={false} position="bottom-left" />
      </ReactFlow>
    </div>
  );
}
