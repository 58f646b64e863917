import { type ClipboardEvent, type DragEvent, useRef } from 'react';
import { useIsShown } from '../../api/queries.ts';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { imagesIn, refusalOf, useUpload } from '../images/upload.ts';
import type { Picture } from './source/new-blocks.ts';

/** Uploads images that are pasted or dropped, and places each in the message. */
export function useDroppedImages(
  isOn: boolean,
  place: (picture: Picture & { readonly alt: string }) => void,
) {
  const { store, withSizes } = useUpload();
  const latest = useRef(place);
  latest.current = place;
  const isShown = useIsShown();
  const take = async (files: readonly File[]) => {
    for (const file of files) {
      try {
        const picture = await withSizes(await store(file));
        // This editor knows nothing of what was typed in another pane since.
        if (isShown.current) latest.current({ ...picture, alt: '' });
        else toast(`${file.name} is in Images. It was not inserted, because you left the visual editor.`);
      } catch (error) {
        // The others are stored all the same.
        toastProblem(new Error(refusalOf(file, error)));
      }
    }
  };
  const taken = (event: ClipboardEvent | DragEvent, data: DataTransfer): void => {
    const files = imagesIn(data);
    // Copied words may bring a picture of themselves along.
    if (!isOn || files.length === 0 || data.types.includes('text/html')) return;
    event.preventDefault();
    event.stopPropagation();
    void take(files);
  };
  return {
    onPasteCapture: (event: ClipboardEvent) => taken(event, event.clipboardData),
    onDropCapture: (event: DragEvent) => taken(event, event.dataTransfer),
    onDragOver: (event: DragEvent) => {
      if (isOn && event.dataTransfer.types.includes('Files')) event.preventDefault();
    },
  };
}
