/**
 * Who really asks, where it is no person: a mail service that fetches images for its users, a browser that looks ahead,
 * or a scanner that opens every link before the recipient does. null: as far as one can tell, a person.
 */
export type Visitor = 'imageProxy' | 'prefetch' | 'scanner' | null;

/** What clients say of themselves; case does not matter. */
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

/** Judges by what the request says. */
export function visitorOf(headers: Headers): Visitor {
  const purpose = `${headers.get('sec-purpose')} ${headers.get('purpose')} ${headers.get('x-moz')}`;
  if (/prefetch|preview|prerender/i.test(purpose)) return 'prefetch';
  const agent = headers.get('user-agent') ?? '';
  // Every browser names itself; what says nothing is a program.
  if (agent.trim() === '') return 'scanner';
  return KNOWN.find(([pattern]) => pattern.test(agent))?.[1] ?? null;
}
