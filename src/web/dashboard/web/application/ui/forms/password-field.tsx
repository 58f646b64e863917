import { useContext, useState } from 'react';
import { icons } from '../icons.tsx';
import { type FieldShape, FormWords, Labelled } from './form.tsx';
import { bitsOf } from './password-strength.ts';

/** The strengths of a password, by the bits that a guesser has to find, with the color of each. */
const STRENGTHS = [
  [40, 'bad'],
  [60, 'waiting'],
  [80, 'good'],
  [Number.POSITIVE_INFINITY, 'good'],
] as const;

function Strength({ password }: { readonly password: string }) {
  const bits = bitsOf(password);
  const place = STRENGTHS.findIndex(([below]) => bits < below);
  const [, color] = STRENGTHS[place] ?? STRENGTHS[0];
  const { strengths } = useContext(FormWords);
  return (
    <div data-color={color} className="mt-2 grid grid-cols-4 gap-1">
      {STRENGTHS.map(([below], at) => (
        <span key={below} className={`h-1 rounded-full ${at <= place ? 'bg-(--state)' : 'bg-hover'}`} />
      ))}
      <p role="status" className="col-span-4 text-caption text-dim">
        {strengths[place]}
      </p>
    </div>
  );
}

/**
 * A password that can be shown while it is typed (ASVS 2.1.12). For a new one, the field shows its strength
 * (2.1.8).
 */
export function PasswordField({ isNew = false, ...shape }: FieldShape & { readonly isNew?: boolean }) {
  const [isShown, setShown] = useState(false);
  const [typed, setTyped] = useState('');
  const { showPassword } = useContext(FormWords);
  return (
    <Labelled {...shape}>
      {(attributes) => (
        <>
          <div className="relative">
            <input
              type={isShown ? 'text' : 'password'}
              spellCheck={false}
              autoCapitalize="none"
              autoComplete={isNew ? 'new-password' : 'current-password'}
              onChange={isNew ? ({ target }) => setTyped(target.value) : undefined}
              {...attributes}
              className="field pe-11"
            />
            <button
              type="button"
              aria-label={showPassword}
              aria-pressed={isShown}
              aria-controls={attributes.id}
              onClick={() => setShown(!isShown)}
              className="absolute inset-y-0 end-0 grid w-10 place-items-center rounded-md text-dim hover:text-ink"
            >
              {icons[isShown ? 'Hidden' : 'Eye']}
            </button>
          </div>
          {typed !== '' && <Strength password={typed} />}
        </>
      )}
    </Labelled>
  );
}
