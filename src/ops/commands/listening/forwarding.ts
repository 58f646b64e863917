import { isSuccess } from '../../../sending/webhooks/http/post-result.ts';
import type { Poster } from '../../../sending/webhooks/http/poster.ts';
import type { PosthornError } from '../../../web/client/posthorn.ts';
import type { Terminal } from '../terminal.ts';

/** The value of `X-Svc-Webhook-Id`, in place of the id of a registered endpoint. */
const LISTENER = 'wh_listen';

/** The services by which listeners post to an address of this machine. */
export interface ForwardingDeps {
  readonly poster: Poster;
  readonly to: string;
  readonly secret: string;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** True for an error that asking again may mend. */
export const isPassing = ({ code }: PosthornError): boolean =>
  /^(?:CONNECTION_FAILED|TIMED_OUT|UNEXPECTED_ANSWER|RATE_LIMITED|INTERNAL_ERROR|SERVICE_UNAVAILABLE)$/.test(
    code,
  );

/** Posts one event once, and prints the result with its recipient. */
export async function forward(
  event: { readonly id: string; readonly type: string },
  recipient: string,
  { poster, to, secret, terminal }: ForwardingDeps,
): Promise<void> {
  const result = await poster.post({ webhookId: LISTENER, url: to, secret, body: JSON.stringify(event) });
  const status = result.httpStatus === 0 ? result.responseBody : String(result.httpStatus);
  const mark = isSuccess(result) ? '✓' : '✗';
  const line = `${mark} ${event.type.padEnd(12)} ${event.id}  ${recipient}  ${status}  ${result.durationMs} ms`;
  // An address may hold signs that move a terminal's cursor.
  terminal.out(`${line.replace(/\p{Cc}/gu, '?')}\n`);
}
