import { hasUser, ownPath, withoutUser } from '../../mail/check/addresses.ts';
import { type FoundProblem, HEAVY_IMAGE } from '../../mail/check/codes.ts';
import type { Findings, FoundAddress } from '../../mail/check/look.ts';
import { FairQueue } from '../../platform/async/fair-slots.ts';
import type { ProbeError, ProbeResult, Prober } from '../webhooks/api.ts';

/** The time for all links and images of a message, in milliseconds. */
const ALL_MS = 10_000;
/** Links of one message that are asked for at once. */
const AT_ONCE = 6;

/** Requests to one host for one message, redirects included: no one is flooded through this service. */
const MOST_TO_A_HOST = 20;

/** The services that asking calls. */
export interface AskServices {
  readonly prober: Pick<Prober, 'probe'>;
  /** Turns of the checks, by their workspaces. */
  readonly turns: Pick<FairQueue, 'take'>;
  /** The sizes of images of this service by their addresses; absent where there is no such image. */
  ownImages(urls: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The beginning of the addresses of this service. */
  readonly ownUrl: string;
}

/** The message that is asked for. */
export interface AskScope {
  readonly workspaceId: string;
  /** True for a message that has left, whose links may be those of its reader. */
  readonly isFinished: boolean;
}

/** The turns of checks: two of one workspace at once. */
export const checkTurns = (): FairQueue =>
  new FairQueue({ total: 64, perKey: 2, backlog: 200, isWorkConserving: true });

interface Job {
  readonly asked: FoundAddress;
  readonly isImage: boolean;
}

/** Asks for the links and images of a message, and says what does not answer. */
export async function askFor(
  asking: AskServices,
  { links, images, leftOut }: Findings,
  scope: AskScope,
): Promise<FoundProblem[]> {
  const own = images.flatMap((asked) => {
    const path = ownPath(asked.url, asking.ownUrl);
    return path?.startsWith('images/') ? [{ asked, url: `${asking.ownUrl}${path}` }] : [];
  });
  // Other addresses here, such as the picture that counts openings, are no images that an author could mend.
  const foreign = images.filter(({ url }) => ownPath(url, asking.ownUrl) === null);
  const { problems, unasked } = await askAll(asking, scope, [
    ...links.map((asked) => ({ asked, isImage: false })),
    ...foreign.map((asked) => ({ asked, isImage: true })),
  ]);
  const sizes = await asking.ownImages(own.map(({ url }) => url));
  for (const { asked, url } of own) {
    const size = sizes.get(url);
    problems.push(
      ...(size === undefined
        ? ofImage(asked, GONE)
        : ofImage(asked, { status: 200, contentType: 'image/*', size })),
    );
  }
  if (leftOut + unasked > 0)
    problems.push({
      code: 'links_left_out',
      message: `${leftOut + unasked} links and images were not followed: they lead through this service, are filled in later, lead to an unusual port or one of many of their host, or there was no time for them. Open them yourself.`,
      at: null,
    });
  return problems;
}

async function askAll(
  { prober, turns }: AskServices,
  { workspaceId, isFinished }: AskScope,
  jobs: Job[],
): Promise<{ readonly problems: FoundProblem[]; readonly unasked: number }> {
  const problems: FoundProblem[] = [];
  const requests = new Map<string, number>();
  const mayAsk = (host: string): boolean => {
    const count = (requests.get(host) ?? 0) + 1;
    requests.set(host, count);
    return count <= MOST_TO_A_HOST;
  };
  const over = new AbortController();
  const { signal } = over;
  let unasked = 0;
  const next = async (): Promise<void> => {
    while (!signal.aborted) {
      const job = jobs.shift();
      if (!job) return;
      const { asked, isImage } = job;
      const { url } = asked;
      const result: Outcome | null = hasUser(url)
        ? { error: 'user_name' }
        : await prober.probe({ url, workspaceId, signal, onlyHead: isFinished, mayAsk });
      if (result === null || ('error' in result && result.error === 'timeout' && signal.aborted)) unasked++;
      else problems.push(...(isImage ? ofImage(asked, result) : ofLink(asked, result)));
    }
  };
  const timer = setTimeout(() => over.abort(), ALL_MS);
  try {
    await turns.take(workspaceId, () => Promise.all(Array.from({ length: AT_ONCE }, next)), { signal });
  } finally {
    clearTimeout(timer);
  }
  return { problems, unasked: unasked + jobs.length };
}

const GONE: ProbeResult = { status: 404, contentType: null, size: null };

/** An answer, or the reason for asking no one. */
type Outcome = ProbeResult | { readonly error: 'user_name' };

function shown(address: string): string {
  const url = withoutUser(address);
  return url.length > 120 ? `${url.slice(0, 119)}…` : url;
}

const WORDS: Readonly<Record<ProbeError | 'user_name', string>> = {
  user_name: 'was not asked for, because it has a user name or a password, which each reader would get',
  forbidden_address: 'leads to a private address, which no recipient reaches',
  unresolved_host: 'has a host that does not exist',
  no_connection: 'has a host that takes no connection',
  untrusted_tls: 'has a certificate that browsers do not trust',
  timeout: 'did not answer in time',
  malformed_answer: 'did not answer as a web server does',
  too_many_redirects: 'redirects more than five times',
};
const IN_DOUBT: ReadonlySet<ProbeError | 'user_name'> = new Set([
  'user_name',
  'timeout',
  'malformed_answer',
  'too_many_redirects',
]);
const mendOf = (error: ProbeError | 'user_name'): string =>
  error === 'user_name' ? 'Take them out of it.' : 'Open it yourself.';
const MEND = 'Correct the address, or take the link out.';

function ofLink({ url, ...place }: FoundAddress, result: Outcome): FoundProblem[] {
  const problem = (code: FoundProblem['code'], words: string, mend = MEND): FoundProblem[] => [
    { code, message: `${shown(url)} ${words}. ${mend}`, ...place },
  ];
  if ('error' in result) {
    const { error } = result;
    if (error === 'forbidden_address') return problem('link_private', WORDS[error]);
    return IN_DOUBT.has(error)
      ? problem('link_in_doubt', WORDS[error], mendOf(error))
      : problem('link_dead', WORDS[error]);
  }
  const { status } = result;
  if (status === 404 || status === 410) return problem('link_dead', `answers ${status}`);
  // 401, 403, 429 and the like are for programs: a person may get the page.
  return status >= 500 ? problem('link_in_doubt', `answers ${status}`, 'Open it yourself.') : [];
}

function ofImage({ url, ...place }: FoundAddress, result: Outcome): FoundProblem[] {
  const mend = 'Upload it again, or correct the address.';
  const problem = (code: FoundProblem['code'], words: string): FoundProblem[] => [
    { code, message: `The image ${shown(url)} ${words}`, ...place },
  ];
  if ('error' in result) {
    const { error } = result;
    if (error === 'forbidden_address') return problem('link_private', `${WORDS[error]}. Upload it here.`);
    return IN_DOUBT.has(error)
      ? problem('link_in_doubt', `${WORDS[error]}. ${mendOf(error)}`)
      : problem('image_dead', `${WORDS[error]}. ${mend}`);
  }
  const { status, contentType, size } = result;
  if (status >= 400) return problem('image_dead', `answers ${status}. ${mend}`);
  if (contentType !== null && !/^(?:image\/|application\/octet-stream)/.test(contentType))
    return problem('image_dead', `answers with ${contentType.slice(0, 60)}, which is no image. ${mend}`);
  return size !== null && size > HEAVY_IMAGE
    ? problem(
        'image_heavy',
        `has ${(size / 1_000_000).toFixed(1)} MB, which takes long on a phone. Save it with at most ${HEAVY_IMAGE / 1_000_000} MB.`,
      )
    : [];
}
