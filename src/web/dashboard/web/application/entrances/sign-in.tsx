import { useState } from 'react';
import { entry, takesPasskeys } from '../api/session.ts';
import { Field } from '../ui/forms/form.tsx';
import { PasswordField } from '../ui/forms/password-field.tsx';
import { Code, Entrance } from './frame.tsx';
import { Spoken, SpokenForm, words } from './spoken.tsx';

/** The fields of the sign-in. The code is shown when the service asks for one. */
export function Credentials({ onIn }: { readonly onIn: () => Promise<void> }) {
  const [asksCode, setAsksCode] = useState(false);
  return (
    <SpokenForm
      action={words.signIn}
      onRefused={({ details }) => setAsksCode(asksCode || details.some(({ path }) => path === '/body/code'))}
      onSend={async ({ code = '', ...credentials }) => {
        await entry.signIn({ ...credentials, ...(code.trim() !== '' && { code }) });
        await onIn();
      }}
    >
      <Field
        label={words.email}
        name="email"
        type="email"
        autoComplete="username"
        inputMode="email"
        autoFocus
      />
      <PasswordField label={words.password} name="password" />
      {asksCode && (
        <Field label={words.code} name="code" autoComplete="one-time-code" hint={words.codeHint} />
      )}
    </SpokenForm>
  );
}

/** Signs a member in. */
export function SignIn({
  why,
  onIn,
}: {
  readonly why: keyof typeof words.why | null;
  readonly onIn: () => Promise<void>;
}) {
  return (
    <Spoken>
      <Entrance
        title={words.signInTitle}
        {...(why !== null && { about: <p role="status">{words.why[why]}</p> })}
      >
        <Credentials onIn={onIn} />
        {takesPasskeys() && (
          <SpokenForm
            action={words.passkey}
            look="plain"
            onSend={async () => {
              await entry.signInByPasskey();
              await onIn();
            }}
          >
            {null}
          </SpokenForm>
        )}
        {/\/machines$/.test(location.pathname) && (
          <a href={`/inspector${location.search}`} className="link">
            {words.liveView}
          </a>
        )}
        <details>
          <summary className="link min-h-6 cursor-pointer">{words.lockedOut}</summary>
          <div className="mt-2 grid gap-2 text-dim">
            <p>
              {words.newPasswordBy} <Code>posthorn members reset-password you@example.com</Code>
            </p>
            <p>
              {words.lostFactorBy} <Code>--without-second-factor</Code>
            </p>
          </div>
        </details>
      </Entrance>
    </Spoken>
  );
}
