import { lazy, Suspense, useEffect, useState } from 'react';
import type { Flow, FlowSimulation } from '../../../../../../client/operations.ts';
import { useChange } from '../../../api/queries.ts';
import { RequestError } from '../../../api/requests.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { Badge, toneOf } from '../../../ui/display/badge.tsx';
import { momentText } from '../../../ui/display/format.ts';
import { PreviewFrame } from '../../../ui/display/preview-frame.tsx';
import { Empty, Skeleton } from '../../../ui/display/states.tsx';
import { icons } from '../../../ui/icons.tsx';
import { Card } from '../../../ui/page.tsx';
import { definitionOf } from '../definition.ts';
import type { FlowDraft } from '../use-flow-draft.ts';
import { outcomeText, STEPS, stepText, useNames } from '../words.ts';
import { SimulateForm } from './simulate-form.tsx';
import { takenBy } from './taken.ts';

const FlowCanvas = lazy(() => import('../canvas/flow-canvas.tsx'));

const ENDS = {
  completed: { text: 'Run completed', tone: 'good' },
  exited: { text: 'Run exited early', tone: 'quiet' },
  failed: { text: 'Run failed', tone: 'bad' },
  notStarted: { text: "Not started: the contact does not match the trigger's filter.", tone: 'waiting' },
  unfinished: { text: 'Stopped: the simulation has too many steps.', tone: 'waiting' },
} as const satisfies Record<FlowSimulation['endedAs'], object>;

/**
 * A contact's simulated run, in virtual time. Nothing is sent; the emails are those that a real run would
 * send.
 */
export default function Simulate({ flow, edited }: { readonly flow: Flow; readonly edited: FlowDraft }) {
  const { may } = useViewer();
  const simulate = useChange('POST /flows/{id}/simulate', []);
  const [walk, setWalk] = useState<(FlowSimulation & { readonly begin: string }) | null>(null);
  if (!may('campaigns:write'))
    return (
      <Empty title="Your role is read-only" icon={icons.Flow}>
        <p>Members of the workspace can simulate the flow.</p>
      </Empty>
    );
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[22rem_minmax(0,1fr)]">
      <SimulateForm
        flow={flow}
        isChanged={edited.isChanged}
        onSend={async (body) => {
          const begin = body.startAt ?? new Date().toISOString();
          setWalk(null);
          // The simulation runs the drawing on the screen.
          if (!(await edited.editing.save()))
            throw new RequestError(
              0,
              'Your changes could not be saved. Open the canvas, save it, and try again.',
            );
          setWalk({ ...(await simulate.mutateAsync({ path: { id: flow.id }, body })), begin });
        }}
      />
      {walk ? (
        <Playback key={`${walk.endsAt} ${walk.path.length}`} flow={flow} walk={walk} />
      ) : (
        <Empty title="No simulation yet" icon={icons.Play}>
          <p>Choose a contact and its events. Weeks pass in a moment, and nothing is sent.</p>
        </Empty>
      )}
    </div>
  );
}

/** Time for one step while it plays. */
const STEP_MS = 900;

/** The walk over the drawing: forwards and back, by the buttons, the line of time or the list. */
function Playback({
  flow,
  walk,
}: {
  readonly flow: Flow;
  readonly walk: FlowSimulation & { readonly begin: string };
}) {
  const { path, endedAs, endsAt, begin } = walk;
  const [at, setAt] = useState(path.length);
  const [isPlaying, setPlaying] = useState(false);
  const names = useNames();
  const definition = definitionOf(flow);
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => setAt((before) => Math.min(before + 1, path.length)), STEP_MS);
    return () => clearInterval(timer);
  }, [isPlaying, path.length]);
  useEffect(() => {
    if (at === path.length) setPlaying(false);
  }, [at, path.length]);
  const shown = path[at - 1];
  const end = ENDS[endedAs];
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-5">
      <section aria-label="Path through the flow" className="card overflow-hidden">
        <div className="flex flex-wrap items-center gap-3 border-b border-edge px-3 py-2">
          <IconButton
            label={isPlaying ? 'Stop' : 'Play'}
            onClick={() => {
              if (!isPlaying && at === path.length) setAt(0);
              setPlaying(!isPlaying);
            }}
          >
            {isPlaying ? icons.Stop : icons.Play}
          </IconButton>
          <input
            type="range"
            aria-label="Step"
            aria-valuetext={shown ? `${shown.step}, ${momentText(shown.at)}` : 'Start'}
            min={0}
            max={path.length}
            value={at}
            onChange={({ target }) => {
              setPlaying(false);
              setAt(Number(target.value));
            }}
            className="min-w-32 flex-1 accent-accent"
          />
          <span className="num text-caption text-dim">
            {shown ? momentText(shown.at) : 'Start'} · {at} of {path.length}
          </span>
        </div>
        <Suspense fallback={<Skeleton className="h-104 w-full" />}>
          <FlowCanvas
            label="Path through the flow"
            definition={definition}
            names={names}
            taken={takenBy(definition, path, shown?.step ?? null, at)}
            className="h-104"
          />
        </Suspense>
      </section>
      <Card title="Timeline">
        <ol className="-mx-2 grid">
          {path.map(({ step, at: moment, outcome, email }, index) => {
            const drawn = definition.steps.find(({ key }) => key === step);
            return (
              <li
                key={path
                  .slice(0, index + 1)
                  .map((each) => each.step)
                  .join()}
              >
                <button
                  type="button"
                  aria-current={index === at - 1 ? 'step' : undefined}
                  onClick={() => {
                    setPlaying(false);
                    setAt(index + 1);
                  }}
                  className="grid min-h-10 w-full grid-cols-[5.5rem_minmax(0,1fr)_auto] items-center gap-3 rounded-lg px-2 py-1.5 text-left hover:bg-hover aria-[current=step]:bg-sunk"
                >
                  <span className="num text-caption text-dim" title={momentText(moment)}>
                    {distanceText(begin, moment)}
                  </span>
                  <span className="min-w-0">
                    <span className="block truncate font-medium">
                      {drawn ? STEPS[drawn.type].title : step}
                    </span>
                    <span className="block truncate text-caption text-dim">
                      {email?.subject ?? (drawn ? stepText(drawn, names) : '')}
                    </span>
                  </span>
                  <Badge status={outcome} tone={outcome.startsWith('skipped') ? 'waiting' : toneOf(outcome)}>
                    <span className="max-w-40 truncate">{outcomeText(outcome)}</span>
                  </Badge>
                </button>
              </li>
            );
          })}
        </ol>
        <p role="status" data-color={end.tone} className="flex flex-wrap gap-x-2">
          <span className="state-text font-medium">{end.text}</span>
          <span className="text-dim">{momentText(endsAt)}</span>
        </p>
      </Card>
      {shown?.email && (
        <section aria-label="Email of this step" className="card overflow-hidden">
          <header className="border-b border-edge px-4 py-3">
            <h2 className="text-heading font-semibold break-words">{shown.email.subject}</h2>
          </header>
          {shown.email.html === null ? (
            <pre className="p-4 font-sans break-words whitespace-pre-wrap">{shown.email.text}</pre>
          ) : (
            <PreviewFrame title="Email" html={shown.email.html} isPhone={false} isDark={false} />
          )}
        </section>
      )}
    </div>
  );
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** `+2 d 3 h` from the beginning. */
function distanceText(from: string, to: string): string {
  let rest = Date.parse(to) - Date.parse(from);
  if (rest < 60_000) return 'immediately';
  const parts = UNITS.flatMap(([unit, size]) => {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    return amount === 0 ? [] : [`${amount} ${unit}`];
  });
  return `+${parts.slice(0, 2).join(' ')}`;
}
