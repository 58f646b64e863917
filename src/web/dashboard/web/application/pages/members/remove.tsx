import type { Member } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Form, Tick } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/** Removes a member, and optionally the keys that they created, which programs may use. */
export function Remove({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const isAsked = useViewer().may('api-keys:write');
  const remove = useChange('DELETE /members/{id}');
  // Removing a member in the test environment removes them from the live one as well.
  const query = { createdBy: member.id };
  const { data: made = [] } = useRead('GET /api-keys', { query }, { environment: 'live', enabled: isAsked });
  const keys = made.filter(({ revokedAt }) => revokedAt === null);
  return (
    <Dialog title={`Remove ${member.name}?`} onClose={onClose}>
      <p className="text-dim">The member is signed out of this workspace at once.</p>
      <Form
        action="Remove member"
        look="danger"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ revokeKeys }) => {
          await remove.mutateAsync({ path: { id: member.id }, query: { revokeKeys: revokeKeys === 'on' } });
          toast(`${member.name} removed`);
          onClose();
        }}
      >
        {keys.length > 0 && (
          <Tick
            label={
              keys.length === 1
                ? 'Revoke the key that they created'
                : `Revoke the ${keys.length} keys that they created`
            }
            name="revokeKeys"
            hint={`${keys.map(({ name, prefix }) => `${name} (${prefix})`).join(', ')}: programs that use these keys stop working. Otherwise the keys stay valid.`}
          />
        )}
      </Form>
    </Dialog>
  );
}
