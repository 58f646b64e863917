import { lastEnvironment } from '../addresses.ts';
import { guestEntry } from '../api/guest.ts';
import { entry, takeOwnZone } from '../api/session.ts';
import { goHome } from '../place.ts';
import { Field, Form } from '../ui/forms/form.tsx';
import { PasswordField } from '../ui/forms/password-field.tsx';
import { Code, Entrance } from './frame.tsx';
import { en } from './words/en.ts';

// These pages are for operators and developers, who find them in the terminal: they are in English.

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
      <Field label={en.name} name="name" autoComplete="name" autoFocus />
      <Field label={en.email} name="email" type="email" autoComplete="username" inputMode="email" />
      <PasswordField label={en.password} name="password" isNew hint={en.passwordHint} />
      <Field
        label="Workspace name"
        name="workspaceName"
        autoComplete="organization"
        hint="Recipients see this as the sender, for example Acme. You can change it later."
      />
    </Form>
  </Entrance>
);

/** Opens the live view with an API key, which is exchanged for a session and not stored. */
export const KeyEntrance = ({
  why,
  refusal,
  onIn,
}: {
  readonly why: keyof typeof en.why | null;
  /** Why the printed link was refused. */
  readonly refusal: string | null;
  readonly onIn: () => Promise<void>;
}) => (
  <Entrance
    title="Open the live view"
    about={
      why === null && refusal === null ? (
        'Every email is a state machine. Watch them move.'
      ) : (
        <p role="alert">{refusal ?? (why && en.why[why])}</p>
      )
    }
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
