import {
  type Edge,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  useReactFlow,
} from '@xyflow/react';
import { memo } from 'react';
import type {
  FlowDefinition,
  FlowStep,
  StepType,
} from '../../../../../../../../machines/flow-run/definition.ts';
import { type Point, pathOf, tipOf } from '../../../../../../../engine/drawing/layout.ts';
import { roundCount } from '../../../ui/display/format.ts';
import { icons } from '../../../ui/icons.tsx';
import { Item, Menu } from '../../../ui/overlays/menu.tsx';
import { type Difference, START } from '../definition.ts';
import type { StepProblem } from '../forms/problems.ts';
import { type Names, problemText, STEPS, stepText, TRIGGERS, triggerText, wayText } from '../words.ts';
import type { DrawnWay } from './flow-layout.ts';

/** The data of a card. The step is null for the trigger. */
type CardData = {
  readonly step: FlowStep | null;
  readonly definition: FlowDefinition;
  readonly names: Names;
  readonly problems: readonly StepProblem[];
  readonly difference: Difference | null;
  readonly isChosen: boolean;
  /** Null where no way is shown. */
  readonly isTaken: boolean | null;
  readonly isCurrent: boolean;
  readonly onChoose: (() => void) | null;
  readonly onRemove: (() => void) | null;
};

const DIFFERENCES = {
  added: { text: 'New', color: 'good' },
  changed: { text: 'Changed', color: 'waiting' },
  removed: { text: 'Removed', color: 'bad' },
} as const satisfies Record<Difference, object>;

const HANDLE =
  'size-3! min-w-0! min-h-0! rounded-full! border-2! border-sheet! bg-edge-strong! opacity-0! in-[.react-flow:hover]:opacity-100!';
const TARGET = 'size-3! min-w-0! min-h-0! border-0! opacity-0!';
const HIDDEN = 'opacity-0! pointer-events-none! size-px! min-w-0! min-h-0! border-0!';

/** Scrolls a card into view, such as the one that has the keyboard focus. */
export function useInSight() {
  const { getViewport, setViewport, getNode } = useReactFlow();
  return (id: string, frame: Element | null) => {
    const node = getNode(id);
    if (!node || !frame) return;
    const { width, height } = frame.getBoundingClientRect();
    const { x, y, zoom } = getViewport();
    const left = node.position.x * zoom + x;
    const top = node.position.y * zoom + y;
    const [right, bottom] = [left + (node.width ?? 0) * zoom, top + (node.height ?? 0) * zoom];
    const across = left < 12 ? 12 - left : right > width - 12 ? width - 12 - right : 0;
    const down = top < 12 ? 12 - top : bottom > height - 12 ? height - 12 - bottom : 0;
    if (across !== 0 || down !== 0) void setViewport({ x: x + across, y: y + down, zoom });
  };
}

/** A step as a card: what it does, and what is wrong with it. */
export const StepNode = memo(function StepNode({ id, data }: NodeProps<Node<CardData>>) {
  const { step, names, problems, difference, isChosen, isTaken, isCurrent, onChoose, onRemove } = data;
  const show = useInSight();
  const { title, icon } = step ? STEPS[step.type] : { title: 'Starts when', icon: 'Play' as const };
  const [first, ...more] = problems;
  const edge = isChosen || isCurrent ? 'border-accent' : first ? 'border-red' : 'border-edge-strong';
  const ring = isCurrent ? 'ring-4 ring-accent/25' : isChosen ? 'ring-3 ring-accent/20' : '';
  const Tag = onChoose ? 'button' : 'div';
  return (
    <>
      <Handle
        type="target"
        position={Position.Top}
        className={step && onRemove ? TARGET : HIDDEN}
        isConnectable={step !== null && onRemove !== null}
      />
      <Tag
        {...(onChoose && {
          type: 'button' as const,
          onClick: onChoose,
          'data-box': id,
          'aria-pressed': isChosen,
          'aria-keyshortcuts': onRemove ? 'Delete' : undefined,
        })}
        data-step={step?.key ?? START}
        {...(isCurrent && { 'aria-current': 'step' as const })}
        onFocus={({ currentTarget }) => {
          if (currentTarget.matches(':focus-visible')) show(id, currentTarget.closest('[data-flow]'));
        }}
        onKeyDown={({ key }) => {
          if (key === 'Delete' || key === 'Backspace') onRemove?.();
        }}
        className={`nodrag nopan pointer-events-auto relative flex h-full w-full flex-col rounded-xl border px-3 py-2.5 text-left ${edge} ${ring} ${isTaken === false ? 'border-dashed bg-page' : step ? 'bg-raised shadow-card' : 'bg-accent-soft'} ${onChoose ? 'cursor-pointer hover:border-accent' : ''}`}
      >
        <span
          className={`flex w-full items-center gap-2 text-caption font-medium ${step ? 'text-dim' : 'text-accent'}`}
        >
          {icons[icon]}
          <span className="min-w-0 flex-1 truncate">{title}</span>
          {difference && (
            <span data-color={DIFFERENCES[difference].color} className="badge px-1.5 text-[11px] leading-4">
              {DIFFERENCES[difference].text}
            </span>
          )}
        </span>
        <span className="mt-0.5 w-full truncate font-semibold">
          {step ? stepText(step, names) : TRIGGERS[data.definition.trigger.type]}
        </span>
        <span className="w-full truncate text-caption text-dim">
          {step ? (
            <span className="font-mono text-[11px]">{step.key}</span>
          ) : (
            triggerText(data.definition, names)
          )}
        </span>
        {first && (
          <span data-color="bad" className="state-text mt-0.5 block w-full truncate text-caption font-medium">
            {problemText(first)}
            {more.length > 0 && ` +${more.length}`}
          </span>
        )}
      </Tag>
      <Handle type="source" position={Position.Bottom} className={HIDDEN} isConnectable={false} />
    </>
  );
});

type WayData = {
  readonly way: DrawnWay;
  readonly step: FlowStep | null;
  readonly count: number | null;
  readonly isTaken: boolean | null;
  readonly onAdd: ((type: StepType) => void) | null;
};

const TYPES = Object.keys(STEPS) as StepType[];

/** A path from one step to the next: its name, its count, and the button that adds a step. */
export const WayNode = memo(function WayNode({ id, data }: NodeProps<Node<WayData>>) {
  const { way, step, count, isTaken, onAdd } = data;
  const text = wayText(step, way.when);
  const show = useInSight();
  const from = step ? `after ${step.key}` : 'at the start';
  const words = [text, way.to === null && onAdd === null ? 'End' : ''].filter(Boolean).join(' · ');
  return (
    <>
      <Handle type="target" position={Position.Top} className={HIDDEN} isConnectable={false} />
      <div className="grid h-full w-full place-items-center">
        <span
          className={`nodrag nopan pointer-events-auto flex max-w-full items-center rounded-full text-caption ${words === '' && count === null ? '' : 'border border-edge bg-sheet'} ${isTaken ? 'text-accent' : 'text-dim'}`}
        >
          {words !== '' && <span className="min-w-0 truncate py-0.5 pl-2.5 last:pr-2.5">{words}</span>}
          {count !== null && (
            <span className="num px-2 py-0.5 font-semibold text-ink" title={`${count} took this path`}>
              {roundCount(count)}
            </span>
          )}
          {onAdd && (
            // biome-ignore lint/a11y/noStaticElementInteractions: it hears that the button inside has the focus
            <span
              onFocus={({ currentTarget, target }) => {
                if (target.matches(':focus-visible')) show(id, currentTarget.closest('[data-flow]'));
              }}
            >
              <Menu
                label={`Add a step ${from}${text === '' ? '' : `: ${text}`}`}
                isPicture
                className={`grid size-6 place-items-center rounded-full hover:bg-accent hover:text-on-accent ${way.to === null ? 'bg-accent text-on-accent' : 'border border-edge bg-sheet text-dim'}`}
                items={TYPES.map((type) => (
                  <Item key={type} onSelect={() => onAdd(type)}>
                    <span className="text-dim">{icons[STEPS[type].icon]}</span>
                    <span className="min-w-0">
                      <span className="block font-medium">{STEPS[type].title}</span>
                      <span className="block text-caption text-dim">{STEPS[type].about}</span>
                    </span>
                  </Item>
                ))}
              >
                {icons.Plus}
              </Menu>
            </span>
          )}
        </span>
      </div>
      <Handle
        type="source"
        position={Position.Bottom}
        className={onAdd ? HANDLE : HIDDEN}
        isConnectable={onAdd !== null}
      />
    </>
  );
});

type LineData = {
  readonly points: readonly Point[];
  readonly hasTip: boolean;
  readonly isTaken: boolean | null;
};

/** The line of a way. */
export const WayLine = memo(function WayLine({ data }: EdgeProps<Edge<LineData>>) {
  if (!data) return null;
  const { points, hasTip, isTaken } = data;
  const color = isTaken ? 'stroke-accent' : 'stroke-edge-strong';
  return (
    <g data-way-line className={isTaken === false ? 'opacity-55' : ''}>
      <path d={pathOf(points)} fill="none" className={color} strokeWidth={isTaken ? 2.25 : 1.5} />
      {hasTip && <path d={tipOf(points)} className={isTaken ? 'fill-accent' : 'fill-edge-strong'} />}
    </g>
  );
});
