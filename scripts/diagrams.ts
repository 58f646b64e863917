import { lifecycles } from '../machines/catalogue.ts';
import { pageOf } from '../src/engine/drawing/page.ts';
import { keepFresh } from './fresh.ts';

keepFresh('machines/README.md', pageOf(lifecycles));
