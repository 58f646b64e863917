import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { leaving, useIsAsked } from './leaving.ts';

/** Asks before something is left that is not saved. */
export const LeaveDialog = () =>
  useIsAsked() && (
    <Dialog title="You have unsaved changes" onClose={leaving.stay}>
      <p className="text-dim">If you leave now, what you have changed here is lost.</p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="danger" onClick={leaving.discard}>
          Discard changes
        </Button>
        <Button look="main" autoFocus onClick={leaving.stay}>
          Keep editing
        </Button>
      </div>
    </Dialog>
  );
