import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { Progress } from '../charts/progress.tsx';
import { count } from '../display/format.ts';
import { Dialog } from '../overlays/dialog.tsx';
import { toast } from '../overlays/toast.tsx';
import { type BulkProgress, runBulk, wait } from './bulk-run.ts';
import type { Selection } from './selection.tsx';

/** Failures that are shown by name. */
const MOST_SHOWN = 20;

interface BulkProps<Item> {
  /** The question, such as "Delete 3 contacts?". */
  readonly title: string;
  /** The verb and the noun of the button. */
  readonly action: string;
  /** In the toast: "3 deleted". */
  readonly done: string;
  readonly selection: Selection<Item>;
  /** The items that the action concerns; all selected ones by default. */
  readonly items?: readonly Item[];
  readonly change: (item: Item) => Promise<unknown>;
  /** Reads the changed lists again. */
  readonly refresh: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly isDangerous?: boolean;
  readonly children: ReactNode;
}

/** Asks, changes the selected items one by one, and names those that could not be changed. */
export function Bulk<Item>(props: BulkProps<Item>) {
  const { selection, items = selection.items, change, onClose } = props;
  const [progress, setProgress] = useState<BulkProgress<Item> | null>(null);
  const [isRunning, setRunning] = useState(false);
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );
  async function run() {
    setRunning(true);
    isStopped.current = false;
    const ended = await runBulk(items, {
      change,
      onProgress: setProgress,
      wait,
      isStopped: () => isStopped.current,
    });
    setRunning(false);
    void props.refresh();
    const changed = ended.done - ended.failures.length;
    if (changed > 0) toast(`${count(changed)} ${props.done}`);
    if (ended.failures.length > 0 || ended.done < ended.total) return;
    selection.clear();
    onClose();
  }
  const failures = progress?.failures ?? [];
  return (
    <Dialog title={props.title} onClose={onClose}>
      {progress === null && <div className="text-dim">{props.children}</div>}
      {progress !== null && (
        <div role="status" className="grid gap-2">
          <Progress label={props.action} value={progress.done / Math.max(progress.total, 1)} />
          <p className="num">
            {count(progress.done)} of {count(progress.total)}
            {failures.length > 0 && `, ${count(failures.length)} failed`}
          </p>
        </div>
      )}
      {failures.length > 0 && (
        <ul aria-label="Failed" data-color="bad" className="grid max-h-56 gap-1 overflow-y-auto text-caption">
          {failures.slice(0, MOST_SHOWN).map(({ item, message }) => (
            <li key={selection.labelOf(item)} className="break-words">
              <strong>{selection.labelOf(item)}</strong>: <span className="state-text">{message}</span>
            </li>
          ))}
          {failures.length > MOST_SHOWN && <li>and {count(failures.length - MOST_SHOWN)} more</li>}
        </ul>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button
          onClick={() => {
            isStopped.current = true;
            onClose();
          }}
        >
          {isRunning ? 'Stop' : progress === null ? 'Cancel' : 'Close'}
        </Button>
        {progress === null && (
          <Button
            look={props.isDangerous === false ? 'main' : 'danger'}
            aria-disabled={items.length === 0}
            onClick={() => items.length > 0 && void run()}
          >
            {props.action}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
