import { type Edge, type Node, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from '@xyflow/react';
import sheet from '@xyflow/react/dist/base.css' with { type: 'text' };
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react';
import type { FlowDefinition, StepType } from '../../../../../../../../machines/flow-run/definition.ts';
import type { Box } from '../../../../../../../engine/drawing/layout.ts';
import { IconButton } from '../../../ui/button.tsx';
import { icons } from '../../../ui/icons.tsx';
import { type Difference, START, type Way } from '../definition.ts';
import type { ProblemsByStep } from '../forms/problems.ts';
import type { RunPath } from '../runs/taken.ts';
import type { Names } from '../words.ts';
import { StepNode, useInSight, WayLine, WayNode } from './flow-card.tsx';
import { type FlowLayout, layoutOf } from './flow-layout.ts';

// The library's style sheet is loaded with the canvas: the first page does not need it, and the policy allows
// no inline styles.
const styles = new CSSStyleSheet();
styles.replaceSync(sheet);
document.adoptedStyleSheets.push(styles);

/** The edits that the canvas offers. */
export interface CanvasEdits {
  onAdd(way: Way, type: StepType): void;
  onConnect(way: Way, to: string): void;
  onRemove(key: string): void;
}

/** A flow as a drawing. */
export interface FlowCanvasProps {
  readonly label: string;
  readonly definition: FlowDefinition;
  readonly names: Names;
  readonly problems?: ProblemsByStep;
  /** The number of contacts that took each path, by the path's id. */
  readonly counts?: ReadonlyMap<string, number>;
  readonly differences?: ReadonlyMap<string, Difference>;
  readonly taken?: RunPath;
  /** The key of the step that is open beside it; '' is the trigger. */
  readonly chosen?: string | null;
  readonly onChoose?: (key: string) => void;
  readonly editing?: CanvasEdits;
  /** Shows the whole flow, however small; otherwise the view starts at its top, at a readable size. */
  readonly isWhole?: boolean;
  readonly className?: string;
}

const nodeTypes = { step: StepNode, way: WayNode };
const edgeTypes = { way: WayLine };
const NO_PROBLEMS: ProblemsByStep = new Map();
const SMALLEST_READABLE = 0.62;

/** A flow, drawn from its definition. The keyboard goes through it with the arrows; Enter opens a step. */
export default function FlowCanvas(props: FlowCanvasProps) {
  return (
    <ReactFlowProvider>
      <Drawn {...props} />
    </ReactFlowProvider>
  );
}

function Drawn(props: FlowCanvasProps) {
  const { definition, problems = NO_PROBLEMS } = props;
  const layout = useMemo(
    () => layoutOf(definition, (key) => (problems.get(key)?.length ?? 0) > 0),
    [definition, problems],
  );
  const { nodes, edges } = partsOf(props, layout);
  const frame = useRef<HTMLDivElement>(null);
  useFirstView(frame, layout, props.isWhole === true);
  const show = useInSight();
  const current = props.taken?.current ?? null;
  const showLatest = useRef(show);
  showLatest.current = show;
  // While a path plays, the view follows its current step.
  useEffect(() => {
    if (current !== null) showLatest.current(current, frame.current);
  }, [current]);
  const ways = new Map(layout.ways.map((way) => [way.id, way]));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrows lead from one button inside to another
    <div
      ref={frame}
      data-flow
      onKeyDown={(event) => move(event, layout)}
      className={`relative overflow-hidden ${props.className ?? ''}`}
    >
      <ReactFlow
        aria-label={props.label}
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        minZoom={0.2}
        maxZoom={1.5}
        panOnScroll
        zoomOnDoubleClick={false}
        nodesDraggable={false}
        nodesConnectable={props.editing !== undefined}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        proOptions={{ hideAttribution: true }}
        isValidConnection={({ source, target }) => ways.has(source) && !ways.has(target) && target !== START}
        onConnect={({ source, target }) => {
          const way = ways.get(source);
          if (way) props.editing?.onConnect(way, target);
        }}
      />
      <Zoom />
    </div>
  );
}

function partsOf(
  { definition, names, problems, counts, differences, taken, chosen, onChoose, editing }: FlowCanvasProps,
  { boxes, ways, lines }: FlowLayout,
): { readonly nodes: Node[]; readonly edges: Edge[] } {
  const placed = (id: string) => {
    const { x = 0, y = 0, width = 0, height = 0 } = boxes.get(id) ?? {};
    return { id, position: { x, y }, width, height };
  };
  const waysBehind = Map.groupBy(ways, ({ from }) => from);
  const nodes = [null, ...definition.steps].flatMap((step): Node[] => {
    const key = step?.key ?? '';
    const data = {
      step,
      definition,
      names,
      problems: problems?.get(key) ?? [],
      difference: differences?.get(key) ?? null,
      isChosen: chosen === key,
      isTaken: taken === undefined ? null : step === null || taken.steps.has(key),
      isCurrent: step !== null && taken?.current === key,
      onChoose: onChoose === undefined ? null : () => onChoose(key),
      onRemove: step === null || !editing ? null : () => editing.onRemove(key),
    };
    return [
      { ...placed(step?.key ?? START), type: 'step', data },
      ...(waysBehind.get(step?.key ?? null) ?? []).map((way) => ({
        ...placed(way.id),
        type: 'way',
        data: {
          way,
          step,
          count: counts?.get(way.id) ?? null,
          isTaken: taken === undefined ? null : taken.ways.has(way.id),
          onAdd: editing === undefined ? null : (type: StepType) => editing.onAdd(way, type),
        },
      })),
    ];
  });
  const edges = lines.map(({ id, points, way, hasTip }): Edge => {
    const drawn = ways.find((each) => each.id === way);
    const [source, target] = id.endsWith(' b') ? [way, drawn?.to ?? ''] : [drawn?.from ?? START, way];
    const isTaken = taken === undefined ? null : taken.ways.has(way);
    return { id, source, target, type: 'way', data: { points, hasTip, isTaken } };
  });
  return { nodes, edges };
}

/** Shows the start of the flow at a readable size, or all of it. A view that the user moved stays. */
function useFirstView(
  frame: { readonly current: HTMLElement | null },
  layout: FlowLayout,
  isWhole: boolean,
): void {
  const { setViewport } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const before = useRef(0);
  useEffect(() => {
    if (width === 0 || !frame.current || Math.abs(before.current - width) < 40) return;
    before.current = width;
    const all = [...layout.boxes.values()];
    const left = Math.min(...all.map(({ x }) => x));
    const right = Math.max(...all.map((box) => box.x + box.width));
    const bottom = Math.max(...all.map((box) => box.y + box.height));
    const across = Math.min(1, (width - 32) / (right - left));
    const zoom = isWhole
      ? Math.max(0.2, Math.min(across, (height - 32) / bottom))
      : Math.max(SMALLEST_READABLE, across);
    const start = layout.boxes.get(START) as Box;
    const centre = zoom === across ? (left + right) / 2 : start.x + start.width / 2;
    void setViewport({ x: width / 2 - centre * zoom, y: 20, zoom });
  }, [frame, layout, isWhole, setViewport, width, height]);
}

function Zoom() {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  return (
    <div className="absolute top-3 right-3 flex rounded-lg not-sm:top-auto not-sm:bottom-3 border border-edge bg-raised shadow-card">
      <IconButton label="Zoom out" onClick={() => void zoomOut()}>
        {icons.Minus}
      </IconButton>
      <IconButton label="Zoom in" onClick={() => void zoomIn()}>
        {icons.Plus}
      </IconButton>
      <IconButton label="Fit to view" onClick={() => void fitView({ padding: 0.05, maxZoom: 1 })}>
        {icons.Whole}
      </IconButton>
    </div>
  );
}

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
};

/** The arrows lead to what is nearest in their direction. */
function move(event: KeyboardEvent<HTMLElement>, { boxes }: FlowLayout): void {
  const direction = DIRECTIONS[event.key];
  const here = (event.target as HTMLElement).closest<HTMLElement>('[data-box]');
  const from = here && boxes.get(here.dataset.box ?? '');
  if (!direction || !from || here.getAttribute('aria-expanded') === 'true') return;
  const [right, down] = direction;
  const reachable = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-box]')];
  const near = reachable.flatMap((element) => {
    const box = boxes.get(element.dataset.box ?? '');
    if (!box) return [];
    const x = box.x + box.width / 2 - (from.x + from.width / 2);
    const y = box.y + box.height / 2 - (from.y + from.height / 2);
    const ahead = x * right + y * down;
    const aside = Math.abs(x * down) + Math.abs(y * right);
    return ahead > 4 ? [{ element, distance: ahead + 2 * aside }] : [];
  });
  const [nearest] = near.toSorted((a, b) => a.distance - b.distance);
  event.preventDefault();
  nearest?.element.focus({ preventScroll: true });
}
