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
import base from '@xyflow/react/dist/base.css' with { type: 'text' };
import { useEffect, useMemo, useRef } from 'react';
import { arrowId, arrowsOf, labelOf, START, stayingIn } from '../../../../../../engine/drawing/arrows.ts';
import type { Layout } from '../../../../../../engine/drawing/layout.ts';
import type { Machine, OwnMachine } from '../../../../../live/model.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import own from './canvas.css' with { type: 'text' };
import { layouts } from './layouts.ts';
import { type LineData, MoveLine } from './move-line.tsx';
import { colorOf } from './state-color.ts';
import { FrameNode, StartNode, type StateData, StateNode } from './state-node.tsx';

// Only pages with a diagram load its styles. The policy refuses <style> elements, but accepts sheets created
// by a script.
const sheet = new CSSStyleSheet();
sheet.replaceSync(base + own);
document.adoptedStyleSheets.push(sheet);

interface CanvasProps {
  readonly machine: Machine | OwnMachine;
  readonly live: LiveMachines;
  readonly chosen: { readonly kind: string | null; readonly state: string | null };
  readonly onChoose: (kind: string, state: string) => void;
}

const nodeTypes = { frame: FrameNode, state: StateNode, start: StartNode };
const edgeTypes = { line: MoveLine };
const FIT = { padding: 0.03, maxZoom: 1.1 };

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

function partsOf({ machine, live, chosen, onChoose }: CanvasProps): {
  nodes: Node[];
  edges: Edge[];
} {
  const { kind, drawing, transient } = machine;
  const { states, lines, width, height } =
    ('layout' in machine ? machine.layout : layouts[drawing.id]) ?? stacked(machine);
  const position = (name: string) => ({ x: states[name]?.x ?? 0, y: states[name]?.y ?? 0 });
  const nodes: Node[] = [
    // Labels stick out beyond the states; the whole picture is what has to fit.
    { id: `${kind} frame`, type: 'frame', position: { x: 0, y: 0 }, width, height, data: {} },
    { id: `${kind}/${START}`, type: 'start', position: position(START), data: {} },
  ];
  for (const state of drawing.states) {
    const data: StateData = {
      kind,
      state,
      staying: stayingIn(drawing, state.name),
      transient: transient.includes(state.name),
      color: colorOf(machine, state.name),
      live,
      ...('counts' in machine && { count: machine.counts[state.name] }),
      chosen: chosen.kind === kind && chosen.state === state.name,
      onChoose,
    };
    const { width: w = 0, height: h = 0 } = states[state.name] ?? {};
    const id = `${kind}/${state.name}`;
    nodes.push({ id, type: 'state', position: position(state.name), width: w, height: h, data });
  }
  const edges = arrowsOf(drawing).flatMap((arrow): Edge[] => {
    const line = lines.find(({ id }) => id === arrowId(arrow.from, arrow.to));
    if (!line) return [];
    const { points, label } = line;
    const data: LineData = {
      kind,
      line: arrow.id,
      drawing,
      points,
      label,
      text: labelOf(arrow),
      live,
    };
    const [source, target] = [`${kind}/${arrow.from}`, `${kind}/${arrow.to}`];
    return [{ id: `${kind}/${arrow.id}`, source, target, type: 'line', data }];
  });
  return { nodes, edges };
}

/** A machine, drawn from its own definition. */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider key={`${props.machine.kind} ${'layout' in props.machine}`}>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow(props: CanvasProps) {
  const { machine, live, chosen, onChoose } = props;
  const { kind, state } = chosen;
  const { nodes, edges } = useMemo(
    () => partsOf({ machine, live, chosen: { kind, state }, onChoose }),
    [machine, live, kind, state, onChoose],
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
