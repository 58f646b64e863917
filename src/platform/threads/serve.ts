import { measuredThread } from './thread-time.ts';

/** A thread tells its number, null where its time is not counted, once it has been loaded; then it posts one reply to each question. */
export type Reply<Answer> =
  | { readonly ready: string | null }
  | { readonly answer: Answer }
  | { readonly fault: string };

declare const self: Worker;

/** Turns the calling module into a thread that answers one question after another. */
export function serve<Question, Answer>(answer: (question: Question) => Answer | Promise<Answer>): void {
  const reply = async (question: Question): Promise<Reply<Answer>> => {
    try {
      return { answer: await answer(question) };
    } catch (error) {
      // The message of an error in a parser may repeat what was parsed.
      return { fault: error instanceof Error ? error.name : typeof error };
    }
  };
  self.onmessage = async ({ data }: MessageEvent<Question>) => self.postMessage(await reply(data));
  self.postMessage({ ready: measuredThread() } satisfies Reply<Answer>);
}
