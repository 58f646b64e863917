import { type ReactNode, useId, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { listText } from '../ui/display/format.ts';
import { Time } from '../ui/display/time.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { useKeptTimes } from './kept-times.ts';
import type { ShownEditing } from './use-editing.ts';
import { useValues } from './use-values.ts';

// Notes of a page on its edit: whether it is saved, an earlier draft, and changes that others have made
// meanwhile.

/** `Saved 5 minutes ago`, `Saving…`, `Not saved`, `Not saved, draft saved just now`. */
export function SaveState({ editing }: { readonly editing: ShownEditing }) {
  const { isChanged, isUnsaved, isSaving, refused, conflicts, updatedAt } = editing;
  const { keptAt, isOnServer } = useKeptTimes(editing.kept);
  const isWrong = refused !== null || conflicts.length > 0;
  return (
    <span
      role="status"
      data-color={isWrong ? 'bad' : isSaving ? 'moving' : isUnsaved ? 'waiting' : 'quiet'}
      className="flex items-center gap-1.5 text-caption whitespace-nowrap text-dim"
    >
      <span aria-hidden="true" className="size-1.5 shrink-0 rounded-full bg-(--state)" />
      {isSaving ? (
        'Saving…'
      ) : isUnsaved ? (
        <span
          {...(keptAt !== null && {
            title: `Until you save, your changes are kept ${isOnServer ? 'on the server, for every browser that you sign in with' : 'in this browser'}.`,
          })}
        >
          <span>Not saved</span>
          {keptAt !== null && (
            <>
              , draft saved{!isOnServer && ' in this browser'} <Time at={new Date(keptAt).toISOString()} />
            </>
          )}
        </span>
      ) : (
        <span>
          Saved{isChanged && ' as a draft'} <Time at={updatedAt} />
        </span>
      )}
    </span>
  );
}

const listed = (names: readonly string[], { labels }: ShownEditing): string =>
  listText(names.map((name) => labels[name] ?? name));

/** An earlier draft, and changes that others have made meanwhile. */
export function EditingNotes({ editing }: { readonly editing: ShownEditing }) {
  const { offered, meanwhile, conflicts, isComparing, others } = editing;
  return (
    <>
      {others.length > 0 && (
        <Note>
          {others.map(({ name, at, fields }) => (
            <p key={`${name} ${at}`} className="min-w-0 flex-1 basis-full">
              {name} has unsaved changes in {listed(fields, editing)}, from{' '}
              <Time at={new Date(at).toISOString()} />. If you both change the same field, the one who saves
              second chooses.
            </p>
          ))}
        </Note>
      )}
      {offered && (
        <Note>
          <p className="min-w-0 flex-1 basis-60">
            You have unsaved changes from <Time at={new Date(offered.at).toISOString()} />:{' '}
            {listed(Object.keys(offered.values), editing)}.
          </p>
          <Button onClick={editing.forgetOffer}>Discard</Button>
          <Button look="main" onClick={editing.restore}>
            Restore
          </Button>
        </Note>
      )}
      {conflicts.length > 0 ? (
        <Note>
          <p className="min-w-0 flex-1 basis-60">
            Someone else changed {listed(conflicts, editing)} while you were editing. Your text is still here.
          </p>
          <Button look="main" onClick={() => editing.compare(true)}>
            Compare
          </Button>
        </Note>
      ) : (
        meanwhile && (
          <Note>
            <p className="min-w-0 flex-1 basis-60">
              Someone else changed {listed(meanwhile.taken, editing)}. You see the new version, with your own
              changes.
            </p>
            <Button onClick={editing.dismiss}>OK</Button>
          </Note>
        )
      )}
      {isComparing && conflicts.length > 0 && <Comparison editing={editing} />}
    </>
  );
}

const Note = ({ children }: { readonly children: ReactNode }) => (
  <div
    role="status"
    data-color="waiting"
    className="flex flex-wrap items-center gap-2 rounded-lg border border-(--tint-edge) bg-(--tint) px-4 py-2.5"
  >
    {children}
  </div>
);

/**
 * Mine and theirs beside each other, member by member; one of them is chosen for each, and neither is lost
 * before.
 */
function Comparison({ editing }: { readonly editing: ShownEditing }) {
  const { conflicts, base, labels, show } = editing;
  const values = useValues(editing);
  const [theirs, setTheirs] = useState<readonly string[]>([]);
  const choose = (name: string, isTheirs: boolean) =>
    setTheirs(isTheirs ? [...theirs, name] : theirs.filter((each) => each !== name));
  return (
    <Dialog title="Someone else changed this too" onClose={() => editing.compare(false)} width="max-w-3xl">
      <p className="text-dim">Choose which version to save. The other one is replaced.</p>
      {conflicts.map((name) => (
        <fieldset key={name} className="grid gap-2">
          <legend className="mb-1.5 font-medium">{labels[name] ?? name}</legend>
          <div className="grid gap-2 sm:grid-cols-2">
            <Version
              name={name}
              title="Your version"
              text={show(name, values[name])}
              isChosen={!theirs.includes(name)}
              onChoose={() => choose(name, false)}
            />
            <Version
              name={name}
              title="Their version"
              text={show(name, base[name])}
              isChosen={theirs.includes(name)}
              onChoose={() => choose(name, true)}
            />
          </div>
        </fieldset>
      ))}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={() => editing.compare(false)}>Keep editing</Button>
        <Button
          look="main"
          onClick={() => {
            editing.resolve(theirs);
            void editing.save();
          }}
        >
          Save
        </Button>
      </div>
    </Dialog>
  );
}

function Version(props: {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  const id = useId();
  return (
    <div className="grid min-w-0 grid-rows-[auto_minmax(0,1fr)] overflow-hidden rounded-lg border border-edge has-checked:border-accent">
      <label htmlFor={id} className="flex min-h-10 items-center gap-2.5 px-3">
        <input
          id={id}
          type="radio"
          name={`version ${props.name}`}
          checked={props.isChosen}
          onChange={props.onChoose}
          className="size-4 accent-accent"
        />
        {props.title}
      </label>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls has to be reached by the keyboard
        tabIndex={0}
        className="max-h-56 overflow-auto border-t border-edge bg-sunk px-3 py-2 font-sans text-caption break-words whitespace-pre-wrap"
      >
        {props.text === '' ? <span className="text-dim">empty</span> : props.text}
      </pre>
    </div>
  );
}
