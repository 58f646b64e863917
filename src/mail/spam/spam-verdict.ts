/** Octets of a message that is judged, as of spamc: spam is smaller, and rules take minutes for megabytes. */
export const LARGEST_JUDGED = 512_000;

/** SpamAssassin's verdict on a message. */
export interface SpamVerdict {
  readonly score: number;
  /** From so many points on it is taken for spam. */
  readonly threshold: number;
  /** The rules that matched, the heaviest first. */
  readonly rules: readonly SpamRule[];
}

interface SpamRule {
  readonly name: string;
  readonly points: number;
  readonly description: string;
  /** The way to fix it, where there is more to say than in the description. */
  readonly advice: string | null;
}

const IMAGE_ONLY =
  'The html has an image and few words beside it. The image that counts opens is one as well: write more text, or turn off open tracking.';
const adviceOn = (name: string): string | null => (name.startsWith('HTML_IMAGE_ONLY_') ? IMAGE_ONLY : null);

/** The verdict in an answer of spamd; null when it is none. */
export function verdictOf(answer: string): SpamVerdict | null {
  const end = answer.indexOf('\r\n\r\n');
  const head = answer.slice(0, Math.max(end, 0));
  const [, score, threshold] = /^Spam: *\w+ *; *(-?[\d.]+) *\/ *(-?[\d.]+)/im.exec(head) ?? [];
  if (!/^SPAMD\/[\d.]+ 0 /.test(head) || score === undefined || threshold === undefined) return null;
  const rules: { name: string; points: number; description: string; advice: string | null }[] = [];
  for (const line of answer.slice(end + 4).split(/\r?\n/)) {
    const [, points, name, description = ''] =
      /^\s*(-?\d+(?:\.\d+)?) ([A-Z][A-Z0-9_]+)\s*(.*)$/.exec(line) ?? [];
    const last = rules.at(-1);
    if (points !== undefined && name !== undefined)
      rules.push({ name, points: Number(points), description, advice: adviceOn(name) });
    // Words that do not fit beside the name continue below the description.
    else if (last && /^\s{20,}\S/.test(line)) last.description += ` ${line.trim()}`;
  }
  return {
    score: Number(score),
    threshold: Number(threshold),
    rules: rules.toSorted((a, b) => b.points - a.points),
  };
}
