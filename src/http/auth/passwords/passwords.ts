import { Semaphore } from '../../../platform/async/semaphore.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { isCommonPassword } from './common-passwords.ts';

/** The parameters that OWASP advises for argon2id: 19 MiB and two passes, 80 ms on one core (measured). */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/**
 * The number of hashes computed at once, and of callers that wait for one: more would only slow all of them
 * down.
 */
const [AT_ONCE, MOST_WAITING] = [2, 50];

/** The minimum (ASVS 2.1.1) and the maximum (2.1.2) of a password's characters. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 128;

/** Hashing as `Bun.password` does it; tests count the calls. */
export type Hasher = Pick<typeof Bun.password, 'hash' | 'verify'>;

/**
 * The hash of a text that is too long for a password, by `ARGON2ID`: an unknown account costs as much time as
 * a known one, even right after a start.
 */
const STAND_IN =
  '$argon2id$v=19$m=19456,t=2,p=1$ljvj1ZqJ2/OoQGcyyFAlUyQCZRHIuVHBHOqjAac1lN4$1DmNmxjOU6Ii2EyA1+hdFnaGfaSRlDQ0icL9INU7jjE';

/** Hashes and verifies passwords, a bounded number at a time. */
export class Passwords {
  readonly #room = new Semaphore(AT_ONCE, undefined, MOST_WAITING);

  constructor(private readonly hasher: Hasher = Bun.password) {}

  /** The hash to store. @throws UnavailableError when too many wait */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => this.hasher.hash(password.normalize('NFC'), ARGON2ID));
  }

  /**
   * True when the password is the one that was hashed. Without a hash the same work is done, and the answer
   * is false. @throws UnavailableError when too many wait
   */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const against = hash ?? STAND_IN;
    const isRight = await this.#inTurn(() => this.hasher.verify(password.normalize('NFC'), against));
    return isRight && hash !== null;
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!(await this.#room.take())) throw new UnavailableError('Too many people are signing in at once.');
    try {
      return await work();
    } finally {
      this.#room.release();
    }
  }
}

/**
 * The reason for refusing a password; null for a good one. `known` are texts that an attacker would try
 * first.
 */
export function problemOfPassword(password: string, known: readonly string[]): string | null {
  const length = [...password].length;
  if (length < SHORTEST_PASSWORD) return `Use at least ${SHORTEST_PASSWORD} characters.`;
  if (length > LONGEST_PASSWORD) return `Use at most ${LONGEST_PASSWORD} characters.`;
  const lower = password.toLowerCase();
  if (new Set(lower).size < 5) return 'Use more than four different characters.';
  if (isRun(lower)) return 'Must not be a sequence, such as 1234 or abcd.';
  const rest = [...known, ...GUESSED].reduce(
    (left, word) => (word.length < 4 ? left : left.replaceAll(word.toLowerCase(), '')),
    lower,
  );
  if (rest.length < SHORTEST_PASSWORD / 2)
    return 'Must not consist of your name, your address or common words.';
  return isCommonPassword(password) ? 'Must not be on the lists of the most common stolen passwords.' : null;
}

/** The components of common stolen passwords that are as long as this service requires. */
const GUESSED = [
  'password',
  'passwort',
  'qwertyuiop',
  'qwerty',
  'letmein',
  'welcome',
  'iloveyou',
  'changeme',
  'dragon',
  'monkey',
  'football',
  'baseball',
  'superman',
  'sunshine',
  'princess',
  'admin',
  'master',
  'trustno1',
  'posthorn',
  '1234567890',
  '123456789',
  '12345678',
  '1234567',
  '123456',
  '12345',
  '1234',
  '0987654321',
];

/** True when each character follows the one before it in the same direction. */
function isRun(text: string): boolean {
  const steps = [...text].slice(1).map((_, at) => text.charCodeAt(at + 1) - text.charCodeAt(at));
  return [1, -1].some((step) => steps.filter((each) => each === step).length >= steps.length - 1);
}
