import type { FoundProblem } from '../../mail/check/codes.ts';
import type { SpamVerdict } from '../../mail/spam/spam-verdict.ts';
import { LARGEST_JUDGED } from '../../mail/spam/spam-verdict.ts';

/** Judges a message, as SpamAssassin does. Rejects when it does not answer. */
export type Judge = (raw: Buffer) => Promise<SpamVerdict>;

/** Fewer points of a rule are not worth a line. */
const FEWEST_POINTS = 0.5;

/** The verdict on a message, in words. */
export async function spamProblems(judge: Judge, raw: Buffer): Promise<FoundProblem[]> {
  const say = (code: FoundProblem['code'], message: string): FoundProblem => ({ code, message, at: null });
  if (raw.length > LARGEST_JUDGED)
    return [say('spam_unknown', 'SpamAssassin checks messages of at most 512,000 octets. Make it smaller.')];
  const verdict = await judge(raw).catch(() => null);
  if (!verdict)
    return [say('spam_unknown', 'SpamAssassin did not answer. Check that spamd runs at SPAMASSASSIN_URL.')];
  const { score, threshold, rules } = verdict;
  const heavy = rules.filter(({ points }) => points >= FEWEST_POINTS).slice(0, 20);
  return [
    ...(score >= threshold
      ? [
          say(
            'spam',
            `SpamAssassin gives it ${score.toFixed(1)} points, and takes it for spam from ${threshold.toFixed(1)} on. Mend the rules with the most points.`,
          ),
        ]
      : []),
    ...heavy.map(({ name, points, description, advice }) =>
      say('spam_rule', `${name}, ${points.toFixed(1)} points: ${description}. ${advice ?? ''}`.trim()),
    ),
  ];
}
