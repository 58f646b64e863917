// The entry point of a separate thread, and of a separate bundle in the executable (scripts/build.ts). What
// takes the most of an email of a campaign happens here: its links, its parts and headers, its signatures.

import { giveWay } from '../../../platform/threads/give-way.ts';
import { serve } from '../../../platform/threads/serve.ts';
import { CopyWriter } from './copy-writer.ts';

giveWay();

const writer = new CopyWriter();
serve(writer.write);
