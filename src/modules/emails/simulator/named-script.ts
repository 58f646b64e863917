import type { OutcomeScript } from '../../../../machines/email-script.ts';
import { Failure, invalid } from '../../../http/failure.ts';
import { readScript } from './read-script.ts';

/** The header by which a request says what becomes of its emails. */
export const SCRIPT_HEADER = 'x-svc-simulate';

const LIVE_KEY = new Failure(
  'FORBIDDEN',
  'Scripted outcomes are for test keys alone: what becomes of live email nobody can say.',
  { suggestion: 'Repeat the request with a test key.' },
);

interface Scripted {
  readonly simulate?: string;
}

/** The email of a request, with the script that its header names; what the email itself names goes before. */
export function withNamedScript<Body extends Scripted>(body: Body, headers: Headers): Body {
  const simulate = headers.get(SCRIPT_HEADER);
  return simulate === null || body.simulate !== undefined ? body : { ...body, simulate };
}

/** The refusal of a request whose header is no script, whatever its emails say; null for one that is, or has none. */
export function refusalOfHeader(
  { livemode }: { readonly livemode: boolean },
  headers: Headers,
): Failure | null {
  const simulate = headers.get(SCRIPT_HEADER);
  if (simulate === null) return null;
  const read = namedScript({ livemode }, { simulate }, `/headers/${SCRIPT_HEADER}`);
  return read instanceof Failure ? read : null;
}

/** The script that an email names; null where it names none. */
export function namedScript(
  { livemode }: { readonly livemode: boolean },
  { simulate }: Scripted,
  path: string,
): OutcomeScript | Failure | null {
  if (simulate === undefined) return null;
  if (livemode) return LIVE_KEY;
  const script = readScript(simulate);
  return 'problem' in script ? invalid([{ path, message: script.problem }]) : script;
}
