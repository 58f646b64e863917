import { WithFixedArrays } from '../wire/fixed-arrays.ts';
import { EngineEnded } from './guarded-engine.ts';

/** The parts of PGlite's module that its loop calls. */
interface Loop {
  _PostgresMainLoopOnce(): void;
  /** Leaves a statement that has failed, after that. */
  _PostgresMainLongJmp(): void;
  /** Called for whatever a turn of the loop has thrown. */
  stackRestore(place: number): void;
}

/** The status of what PostgreSQL throws to leave a statement that has failed. */
const OF_STATEMENT = 100;

/**
 * PGlite that tells when PostgreSQL was cut off. PGlite 0.5.16 itself takes all that is thrown inside
 * PostgreSQL for the failure of a statement (execProtocolRawSync), also a trap of WebAssembly and an error of
 * a file: a commit that was cut off was answered as done, and the next statement spun for ever.
 */
export class TellingEngine extends WithFixedArrays {
  #end: EngineEnded | null = null;
  #hasReason = false;

  /** Looks at each turn of the loop from now on, once PostgreSQL has started. */
  watchLoop(): void {
    const loop = this.mod as unknown as Loop | undefined;
    if (!loop) throw new Error('PostgreSQL has not started.');
    const { _PostgresMainLoopOnce: turn, _PostgresMainLongJmp: leave, stackRestore: restore } = loop;
    loop._PostgresMainLoopOnce = () => {
      try {
        turn();
      } catch (error) {
        if ((error as { status?: unknown }).status !== OF_STATEMENT) this.#cutOff(error);
        throw error;
      }
    };
    loop._PostgresMainLongJmp = () => {
      try {
        leave();
      } catch (error) {
        this.#cutOff(error);
        throw error;
      }
    };
    loop.stackRestore = (place) => {
      restore(place);
      // Ends the loop, which would go on with what is left of the message.
      if (this.#end) throw this.#end;
    };
  }

  #cutOff(error: unknown): void {
    this.#end ??= new EngineEnded(asError(error));
  }

  /**
   * Without an answer where PostgreSQL was cut off: the error that it has sent before says more. Nothing is
   * sent to it afterwards: PGlite follows each failed message with a Sync, which would commit what was cut
   * off, or spin.
   */
  override async execProtocolRaw(
    ...asked: Parameters<WithFixedArrays['execProtocolRaw']>
  ): ReturnType<WithFixedArrays['execProtocolRaw']> {
    if (this.#end) return new Uint8Array(0);
    try {
      return await super.execProtocolRaw(...asked);
    } catch (error) {
      if (!this.#end) throw error;
      return new Uint8Array(0);
    }
  }

  override async execProtocol(
    ...asked: Parameters<WithFixedArrays['execProtocol']>
  ): ReturnType<WithFixedArrays['execProtocol']> {
    return this.#unlessEnded(super.execProtocol(...asked));
  }

  override async execProtocolStream(
    ...asked: Parameters<WithFixedArrays['execProtocolStream']>
  ): ReturnType<WithFixedArrays['execProtocolStream']> {
    return this.#unlessEnded(super.execProtocolStream(...asked));
  }

  async #unlessEnded<Answer>(asked: Promise<Answer>): Promise<Answer> {
    try {
      const answer = await asked;
      if (!this.#end) return answer;
    } catch (error) {
      if (!this.#end) throw error;
      // PostgreSQL's own error, of which all later ones are consequences.
      if (!this.#hasReason) this.#end = new EngineEnded(asError(error));
    }
    this.#hasReason = true;
    throw this.#end;
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
