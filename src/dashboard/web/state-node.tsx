import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { memo, use, useEffect, useRef, useSyncExternalStore } from 'react';
import { inWords } from '../../drawing/arrows.ts';
import type { DrawnState, Move } from '../../drawing/moves.ts';
import { countText } from './format.ts';
import { TourContext } from './highlight.ts';
import { Again, Stay } from './icons.tsx';
import type { Live } from './live.ts';
import type { Tone } from './state-color.ts';

/** What a state's card shows. */
export type StateData = {
  readonly kind: string;
  readonly state: DrawnState;
  readonly staying: readonly Move[];
  readonly transient: boolean;
  readonly tone: Tone;
  readonly live: Live;
  readonly chosen: boolean;
  readonly onChoose: (kind: string, state: string) => void;
};

const Hooks = () => (
  <>
    <Handle type="target" position={Position.Top} isConnectable={false} />
    <Handle type="source" position={Position.Bottom} isConnectable={false} />
  </>
);

/** The extent of a machine; nothing is to be seen of it. */
export const FrameNode = () => null;

/** The dot that a life begins with. */
export const StartNode = memo(function StartNode() {
  return (
    <>
      <Hooks />
      <span className="block size-3.5 rounded-full border-[3px] border-edge-strong bg-ink" />
    </>
  );
});

/** The title above a machine where all of them are shown. */
export const TitleNode = memo(function TitleNode({
  data,
}: NodeProps<Node<{ readonly title: string; readonly width: number }>>) {
  return (
    <p className="text-[26px] font-semibold tracking-tight text-dim" style={{ width: data.width }}>
      {data.title}
    </p>
  );
});

function Count({ kind, name, live }: { readonly kind: string; readonly name: string; readonly live: Live }) {
  const text = useSyncExternalStore(live.subscribe, () => countText(live.count(kind, name)));
  const shown = useRef<HTMLSpanElement>(null);
  const before = useRef(text);
  useEffect(() => {
    if (before.current === text) return;
    before.current = text;
    shown.current?.classList.remove('bump');
    void shown.current?.offsetWidth;
    shown.current?.classList.add('bump');
  }, [text]);
  const isNone = text === '0';
  return (
    <span
      ref={shown}
      data-count={name}
      className={`num shrink-0 text-[19px] leading-6 font-semibold ${isNone ? 'text-faint opacity-60' : ''}`}
    >
      {text}
    </span>
  );
}

/** A state as a card: its name, how many are in it, what it means, and what it takes without being left. */
export const StateNode = memo(function StateNode({ data }: NodeProps<Node<StateData>>) {
  const { kind, state, staying, transient, tone, live, chosen, onChoose } = data;
  const tour = use(TourContext);
  const toured = tour?.kind === kind ? tour : null;
  const isHere = toured?.state === state.name;
  const isAside = toured !== null && !toured.visited.has(state.name) && !isHere;
  const frame = isHere
    ? 'border-accent halo'
    : chosen
      ? 'border-accent'
      : 'border-edge hover:border-edge-strong';
  if (transient)
    return (
      <>
        <Hooks />
        <div
          title={state.description}
          className={`pointer-events-auto grid h-7 place-items-center rounded-full border border-dashed border-edge-strong bg-page font-mono text-[11.5px] text-dim transition-opacity ${isAside ? 'opacity-40' : ''}`}
        >
          {state.name}
        </div>
      </>
    );
  const chips = [...new Map(staying.map((move) => [`${move.cause} ${move.guard}`, move])).values()];
  return (
    <>
      <Hooks />
      <button
        type="button"
        data-tone={tone}
        data-state={state.name}
        aria-label={`${state.name}: show its actors`}
        onClick={() => onChoose(kind, state.name)}
        className={`nodrag pointer-events-auto flex h-full w-full flex-col rounded-xl border bg-raised px-3 py-2.5 text-left shadow-card transition-[border-color,opacity,box-shadow] ${frame} ${isAside ? 'opacity-60' : ''}`}
      >
        <span className="flex w-full items-center gap-2">
          <span
            className={`size-2 shrink-0 bg-(--tone) ${state.final ? 'rounded-[2px] outline-2 outline-offset-1 outline-(--tone)/35' : 'rounded-full'}`}
          />
          <span className="min-w-0 flex-1 truncate font-mono text-[14.5px] leading-6 font-semibold tracking-tight">
            {state.name}
          </span>
          <Count kind={kind} name={state.name} live={live} />
        </span>
        <span className="mt-0.5 text-[11.5px] leading-[15px] text-dim">{state.description}</span>
        {chips.length > 0 && (
          <span className="mt-1.5 flex flex-col">
            {chips.map((move) => (
              <span
                key={`${move.cause} ${move.guard}`}
                title={`${move.cause}${move.guard === null ? '' : `, if ${inWords(move.guard)}`}: ${move.anew ? 'enters the state anew' : 'stays'}`}
                className="flex h-[17px] items-center gap-1.5 font-mono text-[10.5px] text-faint"
              >
                {move.anew ? <Again className="size-3" /> : <Stay className="size-3" />}
                <span className="truncate">{move.cause}</span>
              </span>
            ))}
          </span>
        )}
      </button>
    </>
  );
});
