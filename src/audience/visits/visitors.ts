/**
 * The kind of program behind a request: a mail service that fetches images for its users, a browser that
 * prefetches, or a scanner that opens every link before the recipient does. Null for a person, as far as one
 * can tell.
 */
export type Visitor = 'imageProxy' | 'prefetch' | 'scanner' | null;

/** Known programs by their user agent, in any case. */
const KNOWN: readonly (readonly [RegExp, Exclude<Visitor, null>])[] = [
  [
    /googleimageproxy|yahoomailproxy|yahoocachesystem|ymailproxy|outlookimageproxy|gmximageproxy/i,
    'imageProxy',
  ],
  // Apple's relay loads every image when the mail arrives, and names a bare Mozilla/5.0 and nothing else.
  [/^mozilla\/5\.0$/i, 'imageProxy'],
  [
    /proofpoint|mimecast|barracuda|safelinks|symantec|trendmicro|fortiguard|forcepoint|sophos|cloudmark|messagelabs/i,
    'scanner',
  ],
  [/\b(bot|crawler|spider|preview|facebookexternalhit|slackbot|whatsapp|skypeuripreview)\b/i, 'scanner'],
  [/^(curl|wget|python-requests|python-urllib|go-http-client|java|okhttp|headlesschrome)\b/i, 'scanner'],
];

/** The kind of visitor, by the headers of the request. */
export function visitorOf(headers: Headers): Visitor {
  const purpose = `${headers.get('sec-purpose')} ${headers.get('purpose')} ${headers.get('x-moz')}`;
  if (/prefetch|preview|prerender/i.test(purpose)) return 'prefetch';
  return visitorNamed(headers.get('user-agent') ?? '');
}

/** The kind of visitor, by its user agent alone. */
export function visitorNamed(agent: string): Visitor {
  // Every browser names itself, so a request without a user agent comes from a program.
  if (agent.trim() === '') return 'scanner';
  return KNOWN.find(([pattern]) => pattern.test(agent))?.[1] ?? null;
}
