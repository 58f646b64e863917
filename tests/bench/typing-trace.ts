import type { CDPSession, Page } from 'playwright-core';

/** An event of a trace that has a length; times are microseconds. */
interface TraceEvent {
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur: number;
  /** Processor time of the thread. */
  readonly tdur?: number;
  readonly args?: { readonly data?: { readonly type?: string; readonly functionName?: string } };
}

export interface Task {
  readonly ms: number;
  readonly parts: string;
}

/** Processor time of the thread that takes the keys, in milliseconds; the longest first. */
export interface TypingCost {
  /** Of each letter: the tasks of its key, and of the frame that shows it. */
  readonly letters: readonly Task[];
  /** All tasks that are neither; a key waits for the end of the one that runs when it is pressed. */
  readonly others: readonly Task[];
}

async function traced(cdp: CDPSession, act: () => Promise<void>): Promise<readonly TraceEvent[]> {
  const events: TraceEvent[] = [];
  const note = ({ value }: { value: object[] }) => events.push(...(value as unknown as TraceEvent[]));
  cdp.on('Tracing.dataCollected', note);
  const includedCategories = ['toplevel', 'devtools.timeline', 'v8'];
  await cdp.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories, excludedCategories: ['*'] },
  });
  await act();
  const complete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
  await cdp.send('Tracing.end');
  await complete;
  cdp.off('Tracing.dataCollected', note);
  return events;
}

const isKey = ({ name, args }: TraceEvent) =>
  name === 'EventDispatch' && /^(?:key|input|before)/.test(args?.data?.type ?? '');
const isKeyDown = (event: TraceEvent) => isKey(event) && event.args?.data?.type === 'keydown';
/** Chromium 153 traces no commit; layers are made right before it. */
const isFrame = ({ name }: TraceEvent) => name === 'Layerize' || name === 'Commit';
const within = (outer: TraceEvent, { ts }: TraceEvent) => ts >= outer.ts && ts < outer.ts + outer.dur;
const MS = 1_000;

/** The names of the longest events inside a task, for a person who looks for the cause. */
const partsOf = (inner: readonly TraceEvent[]): string =>
  inner
    .filter(({ name, tdur = 0 }) => !name.endsWith('RunTask') && tdur > MS / 2)
    .toSorted((a, b) => (b.tdur ?? 0) - (a.tdur ?? 0))
    .slice(0, 8)
    .map(({ name, args, tdur = 0 }) => {
      const detail = args?.data?.functionName ?? args?.data?.type;
      return `${name}${detail ? ` ${detail}` : ''} ${(tdur / MS).toFixed(1)}`;
    })
    .join(', ');

const longestFirst = (tasks: readonly Task[]) => tasks.toSorted((a, b) => b.ms - a.ms);

/** The outermost tasks of the thread that takes the keys, with all that is in each. */
function tasksIn(events: readonly TraceEvent[], isInput: (event: TraceEvent) => boolean) {
  const thread = events.find(isInput);
  const own = events
    .filter(({ pid, tid, ph }) => ph === 'X' && pid === thread?.pid && tid === thread.tid)
    .toSorted((a, b) => a.ts - b.ts || b.dur - a.dur);
  const tasks: { readonly ms: number; readonly inner: readonly TraceEvent[] }[] = [];
  let end = 0;
  for (const [index, task] of own.entries()) {
    // Tasks are nested: the outermost one is the wait.
    if (!task.name.endsWith('RunTask') || task.ts < end) continue;
    end = task.ts + task.dur;
    const after = own.findIndex(({ ts }, at) => at > index && ts >= end);
    const inner = own.slice(index, after === -1 ? undefined : after).filter((each) => within(task, each));
    tasks.push({ ms: (task.tdur ?? 0) / MS, inner });
  }
  return tasks;
}

const isAct = ({ name, args }: TraceEvent) =>
  name === 'EventDispatch' &&
  /^(?:key|input|before|paste|click|pointer(?:down|up)|mouse(?:down|up)|focus)/.test(args?.data?.type ?? '');

/** Does one thing: the longest time of the tasks of one of its events, with the frame that follows it. */
export async function actCost(cdp: CDPSession, act: () => Promise<void>): Promise<Task> {
  let worst: Task = { ms: 0, parts: '' };
  let open: Task | null = null;
  for (const { ms, inner } of tasksIn(await traced(cdp, act), isAct)) {
    const hasFrame = inner.some(isFrame);
    if (inner.some(isAct)) open ??= { ms: 0, parts: '' };
    else if (!hasFrame) continue;
    if (!open) continue;
    open = { ms: open.ms + ms, parts: `${open.parts} | ${partsOf(inner)}` };
    if (open.ms > worst.ms) worst = open;
    if (hasFrame) open = null;
  }
  return worst;
}

/** Types, and counts the processor time of each task meanwhile. */
export async function typingCost(cdp: CDPSession, type: () => Promise<void>): Promise<TypingCost> {
  const events = await traced(cdp, type);
  const letters: Task[] = [];
  const others: Task[] = [];
  let isShown = true;
  for (const { ms, inner } of tasksIn(events, isKey)) {
    for (const _ of inner.filter(isKeyDown)) letters.push({ ms: 0, parts: '' });
    const hasKey = inner.some(isKey);
    if (hasKey) isShown = false;
    const letter = letters.at(-1);
    if (letter && (hasKey || (!isShown && inner.some(isFrame))))
      letters[letters.length - 1] = { ms: letter.ms + ms, parts: `${letter.parts} | ${partsOf(inner)}` };
    else others.push({ ms, parts: partsOf(inner) });
    if (inner.some(isFrame)) isShown = true;
  }
  return { letters: longestFirst(letters), others: longestFirst(others) };
}

/**
 * An entry of the Event Timing API, with the number of its interaction and the milliseconds until the next
 * paint.
 */
interface EventTiming {
  readonly interactionId: number;
  readonly duration: number;
}

const OBSERVE = `
  globalThis.eventTimings = [];
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId) eventTimings.push({ interactionId, duration });
  }).observe({ type: 'event', durationThreshold: 16 });
`;

/**
 * Types at a processor slowed so many times: the milliseconds of each interaction that took 16 or more, the
 * longest first.
 */
export async function interactions(
  page: Page,
  cdp: CDPSession,
  slowed: number,
  type: () => Promise<void>,
): Promise<readonly number[]> {
  await page.evaluate(OBSERVE);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowed });
  await type();
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  const timings = await page.evaluate<readonly EventTiming[]>('eventTimings');
  const longest = new Map<number, number>();
  for (const { interactionId, duration } of timings)
    longest.set(interactionId, Math.max(duration, longest.get(interactionId) ?? 0));
  return [...longest.values()].toSorted((a, b) => b - a);
}
