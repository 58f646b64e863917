// The entry point of a separate thread, and of a separate bundle in the executable (scripts/build.ts).
// What strangers write in Liquid is read and rendered here alone: a thread can be ended whatever it does.
import { LruMap } from '../../platform/async/lru-map.ts';
import { serve } from '../../platform/threads/serve.ts';
import type { Scope } from './engine.ts';
import { LIQUID_LIMITS, LiquidProblem, TooSlow } from './limits.ts';
import type { Outline } from './outline.ts';
import { outlineOf } from './outlining.ts';
import {
  type AuthoredPart,
  type AuthoredSource,
  examine,
  examineMade,
  type Findings,
  namesIn,
  type ParsedParts,
  parseParts,
  type ReadingRules,
  type RenderedParts,
  renderParts,
  type Sources,
} from './parts.ts';

/** One piece of work for the thread. */
export type Job =
  | {
      readonly do: 'render';
      /** By what the thread remembers the parsed sources; null for what is rendered once. */
      readonly key: string | null;
      /** Null when the thread has been given them before. */
      readonly sources: Sources | null;
      readonly scope: Scope;
      /** True when the answer is to have the outline of the sources. */
      readonly outlines?: boolean;
    }
  | {
      readonly do: 'examine';
      readonly authored: Readonly<Partial<Record<AuthoredPart, string | null>>>;
      readonly rules: ReadingRules;
    }
  | { readonly do: 'examineMade'; readonly html: string; readonly isSplit: boolean }
  | { readonly do: 'namesIn'; readonly sources: readonly AuthoredSource[] };

/** The result. */
export type ThreadAnswer =
  | {
      readonly rendered: RenderedParts;
      readonly ms: number;
      /** Null for sources without one, absent where it was not asked for. */
      readonly outline?: Outline | null;
    }
  | { readonly findings: Findings }
  | { readonly names: readonly string[] }
  /** The thread does not have the sources any more. */
  | { readonly forgotten: true }
  | (Pick<LiquidProblem, 'dependsOnValues' | 'part'> & { readonly problem: string; readonly isSlow: boolean })
  /** An internal error; its name alone, since a message may repeat rendered text. */
  | { readonly fault: string }
  | { readonly sound: true };

/** The first question of a thread tells where it is to note which job it is at; all others are jobs. */
export type Question = { readonly progress: SharedArrayBuffer } | readonly Job[];

/**
 * Parsed sources that are remembered: this many, and of this many characters together. A parsed source takes
 * ten times its own size.
 */
const MOST_KEPT = 500;
const MOST_CHARACTERS = 4 * LIQUID_LIMITS.result;

interface ParsedTemplate {
  readonly parsed: ParsedParts;
  readonly characters: number;
}

const kept = new LruMap<string, ParsedTemplate>({
  entries: MOST_KEPT,
  weight: MOST_CHARACTERS,
  weightOf: ({ characters }) => characters,
});
let progress: Int32Array | null = null;

// The first rendering of a thread takes six times as long as the next ones. This one takes 15 ms, while the
// thread is starting.
const WARMING = '{% for i in (1..300) %}{% if i > 3 %}{{ i | append: "<" | upcase }}{% endif %}{% endfor %}';
try {
  const parsed = parseParts({ subject: WARMING, previewText: null, html: WARMING, text: null });
  renderParts(parsed, { names: {}, now: 0 });
} catch (error) {
  // On a slow machine even this takes too long; the thread serves all the same.
  if (!(error instanceof TooSlow)) throw error;
}

serve((question: Question): readonly ThreadAnswer[] => {
  if ('progress' in question) {
    progress = new Int32Array(question.progress);
    return [];
  }
  return question.map((job) => {
    if (progress) Atomics.add(progress, 0, 1);
    return answer(job);
  });
});

function answer(job: Job): ThreadAnswer {
  try {
    switch (job.do) {
      case 'render': {
        const parsed = parsedOf(job.key, job.sources);
        if (parsed === null) return { forgotten: true };
        const start = performance.now();
        const rendered = renderParts(parsed, job.scope);
        const ms = performance.now() - start;
        return job.outlines ? { rendered, ms, outline: outlineOf(parsed) } : { rendered, ms };
      }
      case 'examine':
        return { findings: examine(job.authored, job.rules) };
      case 'examineMade':
        examineMade(job.html, job.isSplit);
        return { sound: true };
      case 'namesIn':
        return { names: namesIn(job.sources) };
    }
  } catch (error) {
    if (error instanceof LiquidProblem) {
      const { message: problem, dependsOnValues, part } = error;
      return { problem, dependsOnValues, part, isSlow: error instanceof TooSlow };
    }
    return { fault: error instanceof Error ? error.name : typeof error };
  }
}

/** The parsed sources, which are kept while they are among those used last. */
function parsedOf(key: string | null, sources: Sources | null): ParsedParts | null {
  const found = key === null ? undefined : kept.get(key);
  if (found) return found.parsed;
  if (sources === null) return null;
  const parsed = parseParts(sources);
  if (key !== null) kept.set(key, { parsed, characters: lengthOf(sources) });
  return parsed;
}

const lengthOf = ({ subject, previewText, html, text }: Sources): number =>
  [subject, previewText, html, text].reduce((sum, source) => sum + (source?.length ?? 0), 0);
