import { useEffect, useState } from 'react';
import { ROLE_WORDS } from '../../../../../http/auth/roles.ts';
import { forgetWorkspace } from '../addresses.ts';
import { RequestError } from '../api/requests.ts';
import { entry, type InvitationDetails, type Session } from '../api/session.ts';
import { goHome } from '../place.ts';
import { Failed, Skeleton } from '../ui/display/states.tsx';
import { Field } from '../ui/forms/form.tsx';
import { Entrance } from './frame.tsx';
import { NewPassword } from './reset.tsx';
import { Credentials } from './sign-in.tsx';
import { dayOf, inWords, own, Spoken, SpokenForm, words } from './spoken.tsx';

/** A service that is away says nothing about the invitation. */
const titleOf = (problem: Error): string =>
  problem instanceof RequestError && problem.status === 400 ? words.cannotAccept : words.cannotShow;

interface InvitationProps {
  readonly token: string;
  readonly session: Session | null;
  readonly onIn: () => Promise<void>;
}

/** Accepts an invitation: as who is signed in, with an account that exists, or with a new one. */
export const Invitation = (props: InvitationProps) => (
  <Spoken>
    <Shown {...props} />
  </Spoken>
);

function Shown({ token, session, onIn }: InvitationProps) {
  const [hasAccount, setHasAccount] = useState(false);
  const [invitation, setInvitation] = useState<InvitationDetails | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  useEffect(() => {
    entry.invitation(token).then(setInvitation, (error: unknown) => setProblem(inWords(error, false)));
  }, [token]);
  const accept = async (person: object) => {
    await entry.send('invitation', { token, ...person });
    // The session has moved to the workspace of the invitation.
    forgetWorkspace();
    await onIn();
    goHome();
  };
  if (problem) return <Entrance title={titleOf(problem)} about={<Failed error={problem} />} />;
  if (!invitation)
    return (
      <Entrance title={words.invited}>
        <Skeleton className="h-40 w-full" />
      </Entrance>
    );
  const title = words.join(own(invitation.workspaceName));
  if (session)
    return (
      <Entrance
        title={title}
        about={
          <>
            <InvitationText invitation={invitation} />
            <p className="mt-2">{words.signedInAs(own(session.account.email))}</p>
          </>
        }
      >
        <SpokenForm action={words.accept} isMember onSend={() => accept({})}>
          {null}
        </SpokenForm>
      </Entrance>
    );
  return (
    <Entrance title={title} about={<InvitationText invitation={invitation} />}>
      {hasAccount ? (
        <Credentials onIn={onIn} />
      ) : (
        <SpokenForm action={words.accept} onSend={accept}>
          <Field label={words.name} name="name" autoComplete="name" />
          <NewPassword />
        </SpokenForm>
      )}
      <button type="button" className="button" onClick={() => setHasAccount(!hasAccount)}>
        {hasAccount ? words.createInstead : words.signInInstead}
      </button>
    </Entrance>
  );
}

/** The inviter, the address, the role and the end of an invitation. */
const InvitationText = ({
  invitation: { invitedBy, email, workspaceName, role, expiresAt },
}: {
  readonly invitation: InvitationDetails;
}) => (
  <p className="break-words">
    {words.invitation({
      by: invitedBy === null ? null : own(invitedBy),
      workspace: own(workspaceName),
      role: ROLE_WORDS[words.language][role],
      email: own(email),
      until: dayOf(expiresAt),
    })}
  </p>
);
