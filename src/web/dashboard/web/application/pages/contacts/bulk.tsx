import { useState } from 'react';
import type { Contact } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/display/format.ts';
import { Choice, Form } from '../../ui/forms/form.tsx';
import { Bulk } from '../../ui/lists/bulk.tsx';
import { runBulk, wait } from '../../ui/lists/bulk-run.ts';
import { type Selection, SelectionBar } from '../../ui/lists/selection.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { useAudienceNames } from '../names.ts';

const people = (number: number): string => (number === 1 ? '1 contact' : `${count(number)} contacts`);

/** The actions on the selected contacts. */
export function ContactActions({ selection }: { readonly selection: Selection<Contact> }) {
  const { environment, may } = useViewer();
  const audiences = useAudienceNames('static');
  const [asked, setAsked] = useState<'audience' | 'suppress' | 'delete' | null>(null);
  const close = () => setAsked(null);
  const suppress = useChange('POST /suppressions', ['contacts']);
  const forget = useChange('DELETE /contacts/{contact}', ['audiences', 'suppressions']);
  if (!may('contacts:write')) return null;
  const number = selection.items.length;
  return (
    <>
      <SelectionBar selection={selection} list="contacts">
        {Object.keys(audiences).length > 0 && (
          <Button onClick={() => setAsked('audience')}>Add to audience</Button>
        )}
        {environment === 'live' && <Button onClick={() => setAsked('suppress')}>Suppress</Button>}
        <Button look="danger" onClick={() => setAsked('delete')}>
          Delete contacts
        </Button>
      </SelectionBar>
      {asked === 'audience' && <AddToAudience selection={selection} audiences={audiences} onClose={close} />}
      {asked === 'suppress' && (
        <Bulk
          title={`Suppress ${people(number)}?`}
          action="Suppress"
          done="suppressed"
          selection={selection}
          change={({ email }) => suppress.each({ body: { address: email } })}
          refresh={suppress.refresh}
          onClose={close}
        >
          They get no more email from this workspace. You can remove a suppression later.
        </Bulk>
      )}
      {asked === 'delete' && (
        <Bulk
          title={`Delete ${people(number)}?`}
          action="Delete contacts"
          done="deleted"
          selection={selection}
          change={({ id }) => forget.each({ path: { contact: id } })}
          refresh={forget.refresh}
          onClose={close}
        >
          Their data and activity are erased. This cannot be undone. Those who unsubscribed stay unsubscribed.
        </Bulk>
      )}
    </>
  );
}

function AddToAudience(props: {
  readonly selection: Selection<Contact>;
  readonly audiences: Readonly<Record<string, string>>;
  readonly onClose: () => void;
}) {
  const { selection, audiences, onClose } = props;
  const add = useChange('POST /audiences/{id}/contacts', ['contacts']);
  const remove = useChange('DELETE /audiences/{id}/contacts/{contact}', ['contacts']);
  return (
    <Dialog title={`Add ${people(selection.items.length)} to an audience`} onClose={onClose}>
      <Form
        action="Add contacts"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ audience = '' }) => {
          const contactIds = selection.items.map(({ id }) => id);
          const {
            added,
            alreadyIn,
            left = [],
          } = await add.mutateAsync({
            path: { id: audience },
            body: { contactIds },
          });
          const others = [
            alreadyIn > 0 ? `${count(alreadyIn)} already in the audience` : '',
            left.length > 0 ? `${count(left.length)} left the audience and stay out` : '',
          ].filter((each) => each !== '');
          const isNew = ({ id, audienceIds }: Contact) =>
            !audienceIds.includes(audience) && !left.some((each) => each === id);
          const news = selection.items.filter(isNew);
          toast(
            [`${count(added)} added`, ...others].join('; '),
            added === 0
              ? null
              : async () => {
                  const { done, failures } = await runBulk(news, {
                    change: ({ id }) => remove.each({ path: { id: audience, contact: id } }),
                    onProgress: () => {},
                    isStopped: () => false,
                    wait,
                  });
                  await remove.refresh();
                  const rest = failures.length > 0 ? `; ${count(failures.length)} could not be removed` : '';
                  toast(`${count(done - failures.length)} removed again${rest}`);
                },
          );
          selection.clear();
          onClose();
        }}
      >
        <Choice label="Audience" name="audience" options={audiences} />
      </Form>
    </Dialog>
  );
}
