import { Tick } from '../../ui/forms/form.tsx';

/** The ways in which contacts join and leave an audience by themselves. */
export const Joining = ({ isStatic }: { readonly isStatic: boolean }) => (
  <>
    <Tick label="Show it on the preference page" name="public" hint="Contacts can leave and join it there." />
    {isStatic && (
      <Tick
        label="Require confirmation"
        name="confirm"
        hint="Contacts get an email with a link. They join when they open it."
      />
    )}
  </>
);
