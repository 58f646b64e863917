import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import type { Report } from '../../../platform/text/problems.ts';
import { simulatedOutcome } from '../simulator/simulated-addresses.ts';
import { parseReplyTo } from './reply-to.ts';
import { MOST_RECIPIENTS, type SendBody } from './request-model.ts';

/** The recipients of an email, all with different keys. */
export interface Recipients {
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
}

/** The problem of too many recipients. */
export const tooMany = (most: number): string =>
  `Must name at most ${most} recipients in to, cc and bcc together.`;
const REPEATED = 'Must not name a recipient again: each one once over to, cc and bcc.';
/** The problem of an address at the simulator's domain that says no outcome. */
export const NOT_SIMULATED =
  'Must be one of the addresses that the simulator knows, such as delivered@ or bounced@ its domain.';

/** Replaces an address that could not be read. A request with one is refused, so that it is never stored. */
export const NOBODY: Address = { name: null, address: '', key: '', domain: '', utf8Local: false };

function readAddress(given: string, path: string, report: Report, parse = parseAddress): Address {
  const read = parse(given);
  if (!isProblem(read)) return read;
  report(path, read.problem);
  return NOBODY;
}

const NO_SENDER = 'Must be given, unless PATCH /v1/workspace has set a default sender (defaultFrom).';

/** Reads the sender; null when neither the request nor the workspace names one. */
export function readSender(given: string | null, path: string, report: Report): Address {
  if (given !== null) return readAddress(given, path, report);
  report(path, NO_SENDER);
  return NOBODY;
}

/** Reads one address or several; `check` gets each one that could be read. */
export function readAddresses(
  given: string | readonly string[] | undefined,
  path: string,
  report: Report,
  check: (address: Address, path: string) => void = () => {},
  parse = parseAddress,
): readonly Address[] {
  if (given === undefined) return [];
  const read = (text: string, at: string) => {
    const address = readAddress(text, at, report, parse);
    if (address !== NOBODY) check(address, at);
    return address;
  };
  return typeof given === 'string'
    ? [read(given, path)]
    : given.map((text, index) => read(text, `${path}/${index}`));
}

/** Reads the reply addresses, of which "auto" may be one. */
export const readReplyTo = (
  given: string | readonly string[] | undefined,
  path: string,
  report: Report,
): readonly Address[] => readAddresses(given, path, report, undefined, parseReplyTo);

/** Reads to, cc and bcc, which share the limit `most`. `at` is the pointer to the body. */
export function readRecipients(
  body: SendBody,
  simulatorDomain: string,
  at: string,
  report: Report,
  most = MOST_RECIPIENTS,
): Recipients {
  const seen = new Set<string>();
  const check = (address: Address, path: string) => {
    if (seen.has(address.key)) report(path, REPEATED);
    seen.add(address.key);
    if (simulatedOutcome(address, simulatorDomain) === null) report(path, NOT_SIMULATED);
  };
  const to = readAddresses(body.to, `${at}/to`, report, check);
  const cc = readAddresses(body.cc, `${at}/cc`, report, check);
  const bcc = readAddresses(body.bcc, `${at}/bcc`, report, check);
  if (to.length + cc.length + bcc.length > most) report(`${at}/to`, tooMany(most));
  return { to, cc, bcc };
}
