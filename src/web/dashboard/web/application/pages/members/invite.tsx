import { useState } from 'react';
import type { Role } from '../../../../../../http/auth/roles.ts';
import type { CreatedInvitation } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { dayText } from '../../ui/display/format.ts';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { orNull } from '../../ui/forms/or-null.ts';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { languageOptions, ownName } from '../email-languages.ts';

/** The permissions of each role, from the lowest role to the highest. */
const ROLE_WORDS = {
  viewer: 'Viewer: reads everything, changes nothing',
  member: 'Member: sends, and works on content and contacts',
  admin: 'Admin: everything except granting the owner role',
  owner: 'Owner: everything',
} as const satisfies Record<Role, string>;

const ROLES = Object.keys(ROLE_WORDS) as readonly Role[];

/** The roles that a member may grant: none above their own. */
export const rolesUpTo = (role: Role): readonly Role[] => ROLES.slice(0, ROLES.indexOf(role) + 1);

const roleChoices = (role: Role): Readonly<Record<string, string>> =>
  Object.fromEntries(rolesUpTo(role).map((each) => [each, ROLE_WORDS[each]]));

/** Creates an invitation and shows its link once, so that it works without email. */
export function Invite({ onClose }: { readonly onClose: () => void }) {
  const { session } = useMember();
  const [made, setMade] = useState<CreatedInvitation | null>(null);
  const invite = useChange('POST /members/invitations');
  return made ? (
    <Dialog title={`${made.email} invited`} onClose={onClose} width="max-w-xl" isShownOnce>
      <p role="status">
        Send this link to {made.email}. It works once, until {dayText(made.expiresAt)}, and is shown only
        once. Where the service sends it by mail, that mail is in {ownName(made.emailLanguage)}.
      </p>
      <Copyable label="Link" text={made.url} />
      <Button look="main" onClick={onClose}>
        Done
      </Button>
    </Dialog>
  ) : (
    <Dialog title="Invite member" onClose={onClose}>
      <Form
        action="Create invitation"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ email = '', role, language }) => {
          const body = { email: email.trim(), role: role as Role, language: orNull(language) };
          setMade(await invite.mutateAsync({ body }));
        }}
      >
        <Field label="Email address" name="email" type="email" inputMode="email" />
        <Choice label="Role" name="role" options={roleChoices(session.member.role)} defaultValue="member" />
        <Choice
          label="Language of emails"
          name="language"
          options={languageOptions('Language of the workspace')}
          hint="Of the invitation and of later emails. The person can change it."
        />
      </Form>
    </Dialog>
  );
}
