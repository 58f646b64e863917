import { Handle, type Node, type NodeProps, Position, useStore } from '@xyflow/react';
import { memo, use, useEffect, useRef, useSyncExternalStore } from 'react';
import { inWords } from '../../../../../../engine/drawing/arrows.ts';
import type { DrawnState, Move } from '../../../../../../engine/drawing/moves.ts';
import type { StateCount } from '../../../../../live/model.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { icons } from '../icons.tsx';
import { HighlightContext } from './highlight.ts';
import type { StateColor } from './state-color.ts';
import { countText } from './words.ts';

/** The data of a state's card. */
export type StateData = {
  readonly kind: string;
  readonly state: DrawnState;
  readonly staying: readonly Move[];
  readonly transient: boolean;
  readonly color: StateColor;
  readonly live: LiveMachines;
  /** The number of actors in the state, where no live count exists. */
  readonly count?: StateCount | undefined;
  readonly chosen: boolean;
  readonly onChoose: (kind: string, state: string) => void;
};

/**
 * Text of 11 px is smaller than 8 px beneath this zoom: names and counts then take the room of everything
 * else.
 */
const FAR = 0.72;
/** The width that a name has on a card, in units of a character. */
const FAR_NAME = 195;

/** True where the diagram is so small that only large text can be read. */
export const useIsFar = (): boolean => useStore(({ transform: [, , zoom] }) => zoom < FAR);

const Hooks = () => (
  <>
    <Handle type="target" position={Position.Top} isConnectable={false} />
    <Handle type="source" position={Position.Bottom} isConnectable={false} />
  </>
);

/** The invisible box of a machine's extent. */
export const FrameNode = () => null;

/** The dot at the start of a life. */
export const StartNode = memo(function StartNode() {
  return (
    <>
      <Hooks />
      <span className="block size-3.5 rounded-full border-[3px] border-edge-strong bg-ink" />
    </>
  );
});

function Count({
  kind,
  name,
  live,
  count,
  isFar,
}: {
  readonly kind: string;
  readonly name: string;
  readonly live: LiveMachines;
  readonly count: StateCount | undefined;
  readonly isFar: boolean;
}) {
  const text = useSyncExternalStore(live.subscribe, () => countText(count ?? live.count(kind, name)));
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
      className={`num shrink-0 font-semibold ${isFar ? (text.length > 4 ? 'text-[20px]' : 'text-[27px]') : 'text-[19px] leading-6'} ${isNone ? 'text-faint' : ''}`}
    >
      {text}
    </span>
  );
}

/** A state as a card: its name, how many are in it, what it means, and what it takes without being left. */
export const StateNode = memo(function StateNode({ data }: NodeProps<Node<StateData>>) {
  const { kind, state, staying, transient, color, live, count, chosen, onChoose } = data;
  const highlight = use(HighlightContext);
  const highlighted = highlight?.kind === kind ? highlight : null;
  const isHere = highlighted?.state === state.name;
  const isAside = highlighted !== null && !highlighted.visited.has(state.name) && !isHere;
  const isFar = useIsFar();
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
          className={`pointer-events-auto grid h-7 place-items-center rounded-full border border-dashed border-edge-strong bg-page font-mono text-dim ${isFar ? 'text-[20px]' : 'text-[11.5px]'}`}
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
        data-color={color}
        data-state={state.name}
        title={isFar ? state.description : undefined}
        onClick={() => onChoose(kind, state.name)}
        className={`nodrag pointer-events-auto flex h-full w-full flex-col rounded-xl border px-3 py-2.5 text-left motion-safe:transition-[border-color,background-color,box-shadow] ${frame} ${isAside ? 'bg-page' : 'bg-raised shadow-card'}`}
      >
        <span className={`flex w-full items-center gap-2 ${isFar ? 'h-full' : ''}`}>
          <span
            className={`size-2 shrink-0 bg-(--state) ${state.final ? 'rounded-[2px] outline-2 outline-offset-1 outline-(--state)/35' : 'rounded-full'}`}
          />
          <span
            className="min-w-0 flex-1 truncate font-mono leading-[1.5] font-semibold tracking-tight"
            style={{ fontSize: isFar ? Math.min(26, FAR_NAME / state.name.length) : 14.5 }}
          >
            {state.name}
          </span>
          <Count kind={kind} name={state.name} live={live} count={count} isFar={isFar} />
        </span>
        {!isFar && <span className="mt-0.5 text-[11.5px] leading-[15px] text-dim">{state.description}</span>}
        {!isFar && chips.length > 0 && (
          <span className="mt-1.5 flex flex-col">
            {chips.map((move) => (
              <span
                key={`${move.cause} ${move.guard}`}
                title={`${move.cause}${move.guard === null ? '' : `, if ${inWords(move.guard)}`}: ${move.reenters ? 're-enters the state' : 'stays'}`}
                className="flex h-[17px] items-center gap-1.5 font-mono text-[10.5px] text-faint [&>svg]:size-3"
              >
                {move.reenters ? icons.Again : icons.Stay}
                <span className="truncate">{move.cause}</span>
              </span>
            ))}
          </span>
        )}
      </button>
    </>
  );
});
