import { SMALL } from '../async/body-budget.ts';
import { measuredThread } from './thread-time.ts';

/**
 * A thread tells its number, null where its time is not counted, once it has been loaded; then it posts one
 * reply to each question.
 */
export type Reply<Answer> =
  | { readonly ready: string | null }
  | (({ readonly answer: Answer } | { readonly fault: string }) & Numbered);

/** The number of its question, the first one being 1, where a thread answers several at once. */
export interface Numbered {
  readonly to?: number;
}

declare const self: Worker;

/**
 * Turns the calling module into a thread that answers questions: one after another, or several at once where
 * the pool asks so (`perThread`). `moved` names the memory of an answer that the thread gives away; all else
 * is copied.
 */
export function serve<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
  moved: (answer: Answer) => readonly ArrayBuffer[] = () => [],
): void {
  let asked = 0;
  const reply = async (question: Question, to: number): Promise<Reply<Answer>> => {
    try {
      return { answer: await answer(question), to };
    } catch (error) {
      // The message of an error in a parser may repeat what was parsed.
      return { fault: error instanceof Error ? error.name : typeof error, to };
    }
  };
  self.onmessage = async ({ data }: MessageEvent<Question>) => {
    const replied = await reply(data, ++asked);
    self.postMessage(replied, 'answer' in replied ? [...moved(replied.answer)] : []);
  };
  self.postMessage({ ready: measuredThread() } satisfies Reply<Answer>);
}

/**
 * The memory of octets that may go to another thread as it is: five copies of 25 MiB are one then. Small
 * octets are copied, since they may share their memory with others.
 */
export const movable = (octets: Uint8Array): readonly ArrayBuffer[] => {
  const { buffer, byteLength } = octets;
  const isAlone = byteLength > SMALL && byteLength === buffer.byteLength;
  return isAlone && buffer instanceof ArrayBuffer ? [buffer] : [];
};
