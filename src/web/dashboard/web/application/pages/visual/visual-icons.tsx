import { drawn } from '../../ui/icons.tsx';
import type { ColumnBlock, RowBlock } from './source/new-blocks.ts';

/** The pictures of the visual editor. */
export const visualIcons = {
  Undo: drawn('M3 6h6.500a3.500 3.500 0 0 1 0 7H6M5.500 3.500 3 6l2.500 2.500'),
  Redo: drawn('M13 6H6.500a3.500 3.500 0 0 0 0 7H10M10.500 3.500 13 6l-2.500 2.500'),
  Saved: drawn('M4 2.500h8v11l-4-3-4 3Z'),
  Grip: drawn('M6 4h.1m3.800 0h.1M6 8h.1m3.800 0h.1M6 12h.1m3.800 0h.1'),
  Up: drawn('M8 13V3M4 7l4-4 4 4'),
  Down: drawn('M8 3v10M4 9l4 4 4-4'),
  Trash: drawn('M2.500 4.500h11M6 4.500V2.500h4v2M4 4.500l.6 9h6.800l.6-9'),
  Bold: drawn(
    'M4.500 2.500H8.500a2.600 2.600 0 0 1 0 5.300H4.500Zm0 5.300h4.800a2.800 2.800 0 0 1 0 5.700H4.500Z',
  ),
  Italic: drawn('M6.500 2.500h5m-7 11h5M9.500 2.500l-3 11'),
  Link: drawn(
    'M6.700 9.300a2.800 2.800 0 0 0 4 0l2-2a2.800 2.800 0 1 0-4-4l-.7.700m1.300 2.700a2.800 2.800 0 0 0-4 0l-2 2a2.800 2.800 0 1 0 4 4l.7-.700',
  ),
  Bullets: drawn('M6 4h7.500M6 8h7.500M6 12h7.500M2.800 4h.1m-.1 4h.1m-.1 4h.1'),
  Numbers: drawn(
    'M6.500 4h7m-7 4h7m-7 4h7M2.200 3 3.300 2.500v3.200M2.200 10.300c1.800-1 2.300.6 1.200 1.500l-1.200 1.200h1.800',
  ),
} as const;

/** The picture of each block that can be added. */
export const blockIcons = {
  text: drawn('M3 4h10M3 7h10M3 10h10M3 13h6'),
  heading: drawn('M4 3v10M12 3v10M4 8h8'),
  list: drawn('M6 4h7.500M6 8h7.500M6 12h7.500M2.800 4h.1m-.1 4h.1m-.1 4h.1'),
  quote: drawn('M3 3v10M6.500 5h7m-7 3h7m-7 3h4'),
  button: drawn('M2 5h12v6H2V5Zm3.500 3h5'),
  image: drawn('M2 3h12v10H2V3Zm0 8 3.500-3.500 3 3 2-2L14 12M10.500 6.500h.1'),
  divider: drawn('M2 8h12M4 4h8M4 12h8'),
  spacer: drawn('M3 2.500h10M3 13.500h10M8 5v6M6.300 6.500 8 5l1.700 1.500m-3.400 3L8 11l1.700-1.500'),
  links: drawn(
    'M4 8a1.600 1.600 0 1 0 0 .1ZM12.500 4a1.600 1.600 0 1 0 0 .1Zm0 8a1.600 1.600 0 1 0 0 .1ZM5.300 7.300l4.300-2.500m-4.300 4 4.300 2.500',
  ),
  footer: drawn('M2.500 2.500h11v11h-11v-11Zm0 7.500h11m-8 1.800h5'),
  html: drawn('m5.500 4.500-3.500 3.500 3.500 3.500m5-7 3.500 3.500-3.500 3.500'),
  columns2: drawn('M2 3h5v10H2V3Zm7 0h5v10H9V3Z'),
  columns3: drawn('M1.500 3H5v10H1.500V3Zm4.800 0h3.400v10H6.300V3ZM11 3h3.500v10H11V3Z'),
  products: drawn(
    'M2 2.500h4v4H2v-4Zm0 7h4v4H2v-4ZM8.500 3.500h5.500m-5.500 2h3.500m-3.500 5h5.500m-5.500 2h3.500',
  ),
} as const satisfies Record<ColumnBlock | RowBlock, unknown>;
