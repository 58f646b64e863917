import { TEST_EXIT } from '../../../audience/preferences/queries.ts';
import type { Principal } from '../../../http/auth/principal.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import { Problems } from '../../../platform/text/problems.ts';
import { type AcceptanceDeps, acceptEmail } from '../../../sending/emails/accept.ts';
import type { EmailReceipt } from '../../../sending/emails/queries.ts';
import { findVersion, problemOfKind, type TemplateReader } from '../queries.ts';
import type { TestSendBody } from './preview-model.ts';

/** The services that a test send calls. */
export interface TestSender extends TemplateReader {
  /** Accepts emails. Read at each call, since emails are connected after templates. */
  readonly acceptance: () => AcceptanceDeps;
  readonly isMember: IsMember;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
}

/** True when an address (its key) is that of a member of a workspace. */
export type IsMember = (workspaceId: string, addressKey: string) => Promise<boolean>;

const NO_SUBJECT = new Failure('CONFLICT', 'The template has no subject, so it cannot be sent by itself.', {
  suggestion: 'Give it a subject with PATCH /v1/templates/{id}.',
});
const NO_SENDER = new Failure(
  'CONFLICT',
  'The template names no sender, and the workspace has no default one.',
  {
    suggestion: 'Set from with PATCH /v1/templates/{id}, or defaultFrom with PATCH /v1/workspace.',
  },
);

/** Sends a version of a template to colleagues: a real email, accepted and counted like every other. */
export async function testSend(
  sender: TestSender,
  { caller, params, body, claim, now }: Call<{ readonly id: string }, unknown, TestSendBody>,
): Promise<EmailReceipt | Failure | Replay> {
  const found = await findVersion(sender, caller, params.id, body.version);
  if (found instanceof Failure) return found;
  const stranger = await findStrangers(sender, caller, body.to);
  if (stranger) return stranger;
  const { row, version, content } = found;
  const wrong = problemOfKind(row, '/params/id');
  if (wrong) return wrong;
  if (content.subject === null) return NO_SUBJECT;
  if (content.from === null && caller.senderDefaults.from === null) return NO_SENDER;
  return acceptEmail(sender.acceptance(), {
    sender: caller,
    claim,
    now,
    at: '/body',
    status: 200,
    templateVersion: version,
    test: { subjectPrefix: '[Test] ', exitUrl: await testExitFor(sender, caller, body.to) },
    circumstances: { preferencesUrl: sender.publicUrl + TEST_EXIT },
    body: {
      to: body.to,
      templateId: row.id,
      ...(body.variables && { variables: body.variables }),
      ...(body.language !== undefined && { language: body.language }),
    },
  });
}

/**
 * The page in the place of the link to unsubscribe of a test; null where a recipient is no member of the
 * workspace. A verified domain may give its customers mailboxes: each of them can leave.
 */
export async function testExitFor(
  { isMember, publicUrl }: Pick<TestSender, 'isMember' | 'publicUrl'>,
  { workspaceId }: Principal,
  to: readonly string[],
): Promise<string | null> {
  for (const text of to) {
    const read = parseAddress(text);
    if (isProblem(read) || !(await isMember(workspaceId, read.key))) return null;
  }
  return publicUrl + TEST_EXIT;
}

/**
 * The refusal of recipients who are no colleagues (403) or no addresses (422): it names every one of them.
 */
export async function findStrangers(
  sender: Pick<TestSender, 'acceptance' | 'isMember'>,
  { workspaceId }: Principal,
  to: readonly string[],
): Promise<Failure | null> {
  const problems = new Problems();
  const strangers: string[] = [];
  const isKnown = async ({ key, domain }: Address): Promise<boolean> =>
    (await sender.isMember(workspaceId, key)) ||
    (await sender.acceptance().findSendingDomain(workspaceId, domain)) !== null;
  for (const [index, text] of to.entries()) {
    const read = parseAddress(text);
    if (isProblem(read)) problems.report(`/body/to/${index}`, read.problem);
    else if (!(await isKnown(read))) strangers.push(`/body/to/${index}`);
  }
  const malformed = problems.failure();
  if (malformed || strangers.length === 0) return malformed;
  return new Failure('FORBIDDEN', `A test reaches colleagues only, and ${strangers.join(', ')} is none.`, {
    suggestion: 'Send it to members of the workspace, or to addresses at one of its verified domains.',
  });
}
