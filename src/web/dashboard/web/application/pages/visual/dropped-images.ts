import { type ClipboardEvent, type DragEvent, useRef } from 'react';
import { toastProblem } from '../../ui/overlays/toast.tsx';
import { smallSize } from '../images/small-size.ts';
import { imagesIn, useUpload } from '../images/upload.ts';
import type { Picture } from './source/new-blocks.ts';

/** Uploads images that are pasted or dropped, and places each in the message. */
export function useDroppedImages(
  isOn: boolean,
  place: (picture: Picture & { readonly alt: string }) => void,
) {
  const { store } = useUpload();
  const latest = useRef(place);
  latest.current = place;
  const take = async (files: readonly File[]) => {
    for (const file of files) {
      const asset = await store(file);
      const half = await smallSize(asset).catch(() => null);
      const small = half === null ? null : await store(half).catch(() => null);
      latest.current({ ...asset, alt: '', srcset: small && `${small.url} 1x, ${asset.url} 2x` });
    }
  };
  const taken = (event: ClipboardEvent | DragEvent, data: DataTransfer): void => {
    const files = imagesIn(data);
    // Copied words may bring a picture of themselves along.
    if (!isOn || files.length === 0 || data.types.includes('text/html')) return;
    event.preventDefault();
    event.stopPropagation();
    void take(files).catch(toastProblem);
  };
  return {
    onPasteCapture: (event: ClipboardEvent) => taken(event, event.clipboardData),
    onDropCapture: (event: DragEvent) => taken(event, event.dataTransfer),
    onDragOver: (event: DragEvent) => {
      if (isOn && event.dataTransfer.types.includes('Files')) event.preventDefault();
    },
  };
}
