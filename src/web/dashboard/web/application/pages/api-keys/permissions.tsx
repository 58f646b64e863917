import { PERMISSIONS, type Permission } from '../../../../../../http/auth/permissions.ts';
import type { ApiKey } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { type Fields, Form, Tick } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/** The permissions that a key can hold individually; `*` is offered apart. */
export type KeyPermission = Exclude<Permission, '*'>;
const EACH = Object.keys(PERMISSIONS).filter((name): name is KeyPermission => name !== '*');

/** The permissions that are ticked in a form with `PermissionTicks`. */
export const tickedPermissions = (fields: Fields): readonly KeyPermission[] =>
  EACH.filter((each) => fields[`may ${each}`] === 'on');

/** The permissions to choose from. Members cannot grant more than they hold. */
export function PermissionTicks({ ticked }: { readonly ticked: readonly string[] }) {
  const { may } = useViewer();
  return (
    <fieldset className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
      <legend className="sr-only">Permissions</legend>
      {EACH.filter(may).map((each) => (
        <Tick
          key={each}
          name={`may ${each}`}
          label={each}
          hint={PERMISSIONS[each]}
          defaultChecked={ticked.includes('*') || ticked.includes(each)}
        />
      ))}
    </fieldset>
  );
}

/** Changes what a key may do from now on; the programs that use it keep it. */
export function ChangePermissions({
  apiKey: { id, name, permissions },
  onClose,
}: {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}) {
  const change = useChange('PATCH /api-keys/{id}');
  const path = { id };
  return (
    <Dialog title={`Permissions of “${name}”`} onClose={onClose} width="max-w-2xl">
      <Form
        action="Save"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async (fields) => {
          await change.mutateAsync({ path, body: { permissions: tickedPermissions(fields) } });
          toast(`Permissions of “${name}” updated`, () =>
            change.mutateAsync({ path, body: { permissions: permissions as readonly Permission[] } }),
          );
          onClose();
        }}
      >
        <PermissionTicks ticked={permissions} />
      </Form>
    </Dialog>
  );
}
