import { type ReactNode, useEffect, useState } from 'react';
import { forgetWorkspace, lastEnvironment } from './addresses.ts';
import { guestEntry } from './api/guest.ts';
import { RequestError } from './api/requests.ts';
import { entry, type InvitationDetails, type Session, takeOwnZone, takesPasskeys } from './api/session.ts';
import { goHome } from './place.ts';
import { dayText } from './ui/display/format.ts';
import { Failed, Skeleton } from './ui/display/states.tsx';
import { Field, Form } from './ui/forms/form.tsx';
import { PasswordField } from './ui/forms/password-field.tsx';
import { Mark } from './ui/icons.tsx';

/** The frame of the pages before sign-in. */
export function Entrance(props: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <main className="mx-auto grid min-h-full w-full max-w-md content-center gap-5 px-4 py-10">
      <title>{`${props.title} · Posthorn`}</title>
      <header className="flex items-center gap-3">
        <Mark className="size-9" />
        <h1 className="text-[20px] font-semibold tracking-tight">{props.title}</h1>
      </header>
      {props.about !== undefined && <div className="text-dim">{props.about}</div>}
      {props.children !== undefined && <div className="card grid gap-4 p-5">{props.children}</div>}
    </main>
  );
}

const Code = ({ children }: { readonly children: ReactNode }) => (
  <code className="rounded bg-sunk px-1 py-px font-mono text-[12.5px] break-words">{children}</code>
);

/** The next step when no account exists yet. */
export const NotSetUp = () => (
  <Entrance
    title="No account exists yet"
    about="The first account needs a link that only the operator of the machine can read."
  >
    <ol className="grid list-decimal gap-3 pl-5">
      <li>
        <Code>posthorn serve</Code> prints the link when it starts, under “Make the first account”. In a
        container, read it in the log: <Code>docker logs &lt;container&gt;</Code>.
      </li>
      <li>The link is valid for one day and works once. Restart the service to get another one.</li>
      <li>Open the link in a browser and choose a password.</li>
    </ol>
  </Entrance>
);

/** The page of a link that came without its token, as after loading it again. */
export const LinkNeeded = ({ what }: { readonly what: string }) => (
  <Entrance
    title="Open the link again"
    about={`${what} The secret part of the link was removed from the address of this page to keep it private. Open the whole link again.`}
  >
    <a href="/app" className="link">
      Go to sign-in
    </a>
  </Entrance>
);

const PASSWORD_HINT = 'At least 12 characters. A few unrelated words work best.';
const NewPassword = () => <PasswordField label="Password" name="password" isNew hint={PASSWORD_HINT} />;
const Email = (more: { readonly autoFocus?: boolean }) => (
  <Field
    label="Email address"
    name="email"
    type="email"
    autoComplete="username"
    inputMode="email"
    {...more}
  />
);

/** Creates the first owner. */
export const Setup = ({ token, onIn }: { readonly token: string; readonly onIn: () => Promise<void> }) => (
  <Entrance title="Set up Posthorn" about="You become the owner of this installation. No email is sent.">
    <Form
      action="Create account"
      onSend={async ({ workspaceName = '', ...person }) => {
        const named = workspaceName.trim() === '' ? {} : { workspaceName };
        await entry.send('setup', { token, ...person, ...named });
        await takeOwnZone();
        await onIn();
        goHome('/app/test/start');
      }}
    >
      <Field label="Your name" name="name" autoComplete="name" autoFocus />
      <Email />
      <NewPassword />
      <Field
        label="Workspace name"
        name="workspaceName"
        autoComplete="organization"
        hint="Recipients see this as the sender, for example Acme. You can change it later."
      />
    </Form>
  </Entrance>
);

/** The fields of the sign-in. The code is shown when the service asks for one. */
function Credentials({ onIn }: { readonly onIn: () => Promise<void> }) {
  const [asksCode, setAsksCode] = useState(false);
  return (
    <Form
      action="Sign in"
      onRefused={({ details }) => setAsksCode(asksCode || details.some(({ path }) => path === '/body/code'))}
      onSend={async ({ code = '', ...credentials }) => {
        await entry.signIn({ ...credentials, ...(code.trim() !== '' && { code }) });
        await onIn();
      }}
    >
      <Email autoFocus />
      <PasswordField label="Password" name="password" />
      {asksCode && (
        <Field
          label="Authenticator code"
          name="code"
          autoComplete="one-time-code"
          hint="The six digits of your authenticator, or a recovery code."
        />
      )}
    </Form>
  );
}

/** Signs a member in. */
export const SignIn = ({
  why,
  onIn,
}: {
  readonly why: string | null;
  readonly onIn: () => Promise<void>;
}) => (
  <Entrance title="Sign in to Posthorn" {...(why !== null && { about: <p role="status">{why}</p> })}>
    <Credentials onIn={onIn} />
    {takesPasskeys() && (
      <Form
        action="Sign in with a passkey"
        look="plain"
        onSend={async () => {
          await entry.signInByPasskey();
          await onIn();
        }}
      >
        {null}
      </Form>
    )}
    {/\/machines$/.test(location.pathname) && (
      <a href={`/inspector${location.search}`} className="link">
        Open the live view with an API key
      </a>
    )}
    <details>
      <summary className="link min-h-6 cursor-pointer">Locked out?</summary>
      <div className="mt-2 grid gap-2 text-dim">
        <p>
          The operator of the machine can print a link for a new password. No email is needed:{' '}
          <Code>posthorn members reset-password you@example.com</Code>
        </p>
        <p>
          If the authenticator is lost and no recovery code is left, add <Code>--without-second-factor</Code>.
        </p>
      </div>
    </details>
  </Entrance>
);

/** Opens the live view with an API key, which is exchanged for a session and not stored. */
export const KeyEntrance = ({
  why,
  onIn,
}: {
  readonly why: string | null;
  readonly onIn: () => Promise<void>;
}) => (
  <Entrance
    title="Open the live view"
    about={why === null ? 'Every email is a state machine. Watch them move.' : <p role="alert">{why}</p>}
  >
    <Form
      action="Open the live view"
      onSend={async ({ key = '' }) => {
        await guestEntry.open({ key: key.trim() });
        await onIn();
      }}
    >
      <Field
        label="API key"
        name="key"
        type="password"
        autoComplete="off"
        placeholder="svc_test_… or svc_live_…"
        hint="The key needs emails:read. It is exchanged for a session of one hour and not stored. You see only the environment of the key, test or live."
      />
    </Form>
    <p className="text-dim">
      With an account,{' '}
      <a href={`/app/${lastEnvironment()}/machines`} className="link">
        sign in to the application
      </a>
      . On your own machine, <Code>serve</Code> prints a link that opens this page without a key.
    </p>
  </Entrance>
);

/** A service that is away says nothing about the invitation. */
const titleOf = (problem: Error): string =>
  problem instanceof RequestError && problem.status === 400
    ? 'This invitation cannot be accepted'
    : 'The invitation cannot be shown now';

/** Accepts an invitation: as who is signed in, with an account that exists, or with a new one. */
export function Invitation(props: {
  readonly token: string;
  readonly session: Session | null;
  readonly onIn: () => Promise<void>;
}) {
  const [hasAccount, setHasAccount] = useState(false);
  const { token, session, onIn } = props;
  const [invitation, setInvitation] = useState<InvitationDetails | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  useEffect(() => {
    entry.invitation(token).then(setInvitation, setProblem);
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
      <Entrance title="You are invited to Posthorn">
        <Skeleton className="h-40 w-full" />
      </Entrance>
    );
  const title = `Join ${invitation.workspaceName}`;
  if (session)
    return (
      <Entrance
        title={title}
        about={
          <>
            <InvitationText invitation={invitation} />
            <p className="mt-2">You are signed in as {session.account.email}.</p>
          </>
        }
      >
        <Form action="Accept invitation" onSend={() => accept({})}>
          {null}
        </Form>
      </Entrance>
    );
  return (
    <Entrance title={title} about={<InvitationText invitation={invitation} />}>
      {hasAccount ? (
        <Credentials onIn={onIn} />
      ) : (
        <Form action="Accept invitation" onSend={accept}>
          <Field label="Your name" name="name" autoComplete="name" />
          <NewPassword />
        </Form>
      )}
      <button type="button" className="button" onClick={() => setHasAccount(!hasAccount)}>
        {hasAccount ? 'Create an account instead' : 'Sign in with an existing account instead'}
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
    {invitedBy === null ? 'You are invited' : `${invitedBy} invites you`} to the workspace{' '}
    <b className="font-medium text-ink">{workspaceName}</b> as {role}. The invitation is for{' '}
    <b className="font-medium text-ink">{email}</b> and ends on {dayText(expiresAt)}.
  </p>
);

/** Sets a new password. */
export const Reset = ({
  token,
  onDone,
}: {
  readonly token: string;
  readonly onDone: (told: string) => Promise<void>;
}) => (
  <Entrance
    title="Choose a new password"
    about="You are signed out everywhere. Sign in with the new password."
  >
    <Form
      action="Set password"
      onSend={async (fields) => {
        await entry.send('password-reset', { token, ...fields });
        await onDone('Password changed. Sign in with it.');
        goHome();
      }}
    >
      <NewPassword />
    </Form>
  </Entrance>
);
