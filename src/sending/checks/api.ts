import { type Static, Type } from '@sinclair/typebox';
import { literals } from '../../http/request/schema.ts';
import { CHECK_CODES, CHECKS, type FoundProblem, SEVERITIES } from '../../mail/check/codes.ts';
import type { LookedAt } from '../../mail/check/look.ts';

const orNull = <Of extends Parameters<typeof Type.Union>[0][number]>(of: Of) => Type.Union([of, Type.Null()]);

const Problem = Type.Object(
  {
    severity: literals(SEVERITIES, {
      description: '`error`: every recipient sees it. `warning`: some do. `info`: for the author to know.',
    }),
    code: literals(CHECK_CODES, { description: 'The rule; /docs/check-messages lists them.' }),
    message: Type.String({ description: 'A sentence with the mend.' }),
    line: orNull(Type.Integer({ minimum: 1, description: 'In the source that `path` names.' })),
    path: orNull(
      Type.String({
        description:
          'A JSON pointer into the answer of GET for the same resource: `/html`, `/translations/de/html`, or `/layers/0/html` for a source of a layout or partial. In a campaign, `/templateId` is the source of its template, in the translation that is checked.',
      }),
    ),
  },
  { title: 'MessageProblem' },
);

/** The answer of a check. */
export const MessageCheck = Type.Object(
  { problems: Type.Array(Problem, { description: 'Errors first; none of them prevents sending.' }) },
  { title: 'MessageCheck' },
);
export type MessageCheck = Static<typeof MessageCheck>;
type MessageProblem = MessageCheck['problems'][number];

const EXAMPLE: MessageCheck = {
  problems: [
    {
      severity: 'error',
      code: 'link_dead',
      message: 'https://acme.example/spring answers 404. Correct the address, or take the link out.',
      line: 12,
      path: '/html',
    },
  ],
};

/** The limits of a check, for the descriptions of its endpoints. */
export const CHECK_LIMITS =
  'It asks for at most 50 links and 50 images, with at most 20 requests to one host, within ten seconds; two checks of a workspace run at once, and further ones wait within that time. It counts in the limit of 60 previews a minute and client address (`RATE_LIMIT_PREVIEW`).';

/** The milliseconds for which a check may wait for links, images and SpamAssassin. */
const WAITS_MS = 30_000;

/** The answer and the limits of a route that checks a message. */
export const checkAnswer = (previewsPerMinute: number) => ({
  response: MessageCheck,
  status: 200 as const,
  waitsMs: WAITS_MS,
  ipLimitPerMinute: 60,
  ipLimitSetting: previewsPerMinute,
  example: { response: EXAMPLE },
});

/** A message to check. */
interface CheckOrder {
  readonly workspaceId: string;
  readonly looked: Omit<LookedAt, 'ownUrl'>;
  /** The octets of html from which on Gmail hides the rest. */
  readonly clippedAt: number;
  /** The whole message, where SpamAssassin judges it. */
  raw(): Promise<Buffer>;
}

/** The functions that checks give to other modules. */
export interface ChecksApi {
  /** Finds what is wrong with a message, also by asking for its links and images. @throws UnavailableError */
  check(order: CheckOrder): Promise<readonly FoundProblem[]>;
}

/** A problem with its line, from 1, in the source of that JSON pointer; both null where it is at no place. */
export interface PlacedProblem extends Pick<FoundProblem, 'code' | 'message'> {
  readonly line: number | null;
  readonly path: string | null;
}

/** Problems as they are answered, the gravest first. */
export function answerOf(problems: readonly PlacedProblem[]): MessageCheck {
  const all = problems.map(({ code, message, line, path }) => ({
    severity: CHECKS[code].severity,
    code,
    message,
    line,
    path,
  }));
  const weight = ({ severity }: MessageProblem): number => SEVERITIES.indexOf(severity);
  const byPlace = (one: MessageProblem, other: MessageProblem): number =>
    (one.path ?? '').localeCompare(other.path ?? '') || (one.line ?? 0) - (other.line ?? 0);
  return { problems: all.toSorted((one, other) => weight(one) - weight(other) || byPlace(one, other)) };
}
