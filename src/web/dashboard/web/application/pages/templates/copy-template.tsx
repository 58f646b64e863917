import { useState } from 'react';
import type { Template } from '../../../../../client/operations.ts';
import { ENVIRONMENTS } from '../../addresses.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { withoutDetails } from './draft.ts';

/** All that a request may set of a template: every member but those that the service sets. */
const writableOf = ({
  id: _id,
  livemode: _livemode,
  version: _version,
  layers: _layers,
  usedBy: _usedBy,
  languages: _languages,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  ...writable
}: Template) => writable;

/**
 * Copies a template into the other environment. If its alias exists there, programs already send that
 * template: after a confirmation, it gets the content as a new version.
 */
export function CopyTemplate({
  template,
  isChanged,
  onClose,
}: {
  readonly template: Template;
  readonly isChanged: boolean;
  readonly onClose: () => void;
}) {
  const other = useViewer().environment === 'live' ? 'test' : 'live';
  const there = `the ${ENVIRONMENTS[other].name.toLowerCase()} environment`;
  const [isKnown, setIsKnown] = useState(false);
  const create = useChange('POST /templates', [], other);
  const change = useChange('PATCH /templates/{id}', [], other);
  const { name, alias } = template;
  const replace = isKnown && alias !== null;
  // The layout there has another id, and is found by the alias that both have.
  const { layoutId } = template;
  const layout = useRead(
    'GET /templates/{id}',
    { path: { id: layoutId ?? '' } },
    { enabled: layoutId !== null },
  );
  const content = { ...writableOf(template), layoutId: layoutId && (layout.data?.alias ?? layoutId) };
  const copy = async () => {
    if (replace) {
      await change.mutateAsync({ path: { id: alias }, body: withoutDetails(content) });
      return true;
    }
    try {
      await create.mutateAsync({ body: content });
      return true;
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 409 || alias === null) throw error;
      setIsKnown(true);
      return false;
    }
  };
  return (
    <Dialog title={`Copy “${name}” to ${there}`} onClose={onClose}>
      <p className="text-dim" role="status">
        {replace
          ? `A template “${alias}” already exists there. It gets this content as a new version, and keeps its current content as an earlier version.`
          : 'The published version is copied. The two templates are independent afterwards.'}
        {isChanged && ' Unsaved changes are not copied.'}
      </p>
      <Form
        action={replace ? 'Replace content' : 'Copy template'}
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async () => {
          if (!(await copy())) return;
          toast(`Template “${name}” copied to ${there}`);
          onClose();
        }}
      >
        {null}
      </Form>
    </Dialog>
  );
}
