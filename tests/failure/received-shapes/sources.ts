/**
 * Messages of other projects' test suites, as Debian packs them. They are read from a folder of the machine
 * and never kept here.
 */
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasFields, inMailForm } from './mail-form.ts';

/** Packages whose sources hold messages. */
const SOURCES = [
  'notmuch',
  'kmime',
  'kf5-messagelib',
  'golang-github-jhillyerd-enmime',
  'php-horde-mime',
  'gmime',
  'rspamd',
  'libmail-deliverystatus-bounceparser-perl',
  'bogofilter',
  'cyrus-imapd',
  'libemail-simple-perl',
  'ruby-mail',
  'libmime-tools-perl',
  'libemail-mime-perl',
  'maildir-utils',
  'libmail-box-perl',
  'spamassassin',
];
/** The tests of Python's own email package are a package without sources. */
const BINARY = 'libpython3.11-testsuite';
const FOLDER = join(tmpdir(), 'posthorn-received-shapes');
/**
 * A file in the folder of a package of which all was had; any other is asked for at the next run once more.
 */
const WHOLE = '.whole';
/** The messages of any test suite are smaller. */
const LARGEST = 2_000_000;

const run = async (cwd: string, ...command: string[]): Promise<string | null> => {
  const child = Bun.spawn(command, { cwd, stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  return (await child.exited) === 0 ? null : said.trim().split('\n').slice(-1).join();
};

/**
 * Downloads the packages and unpacks them, once; those that the mirror lacks are named. The folder of what
 * there is.
 */
export async function downloadSuites(say: (line: string) => void): Promise<string> {
  await mkdir(join(FOLDER, 'lists/partial'), { recursive: true });
  await writeFile(join(FOLDER, 'sources.list'), 'deb-src http://deb.debian.org/debian bookworm main\n');
  const apart = [
    '-o',
    `Dir::Etc::sourcelist=${FOLDER}/sources.list`,
    '-o',
    'Dir::Etc::sourceparts=/dev/null',
    '-o',
    `Dir::State::lists=${FOLDER}/lists`,
  ];
  const isNew = !(await readdir(FOLDER)).includes('suites');
  const failed = isNew ? await run(FOLDER, 'apt-get', ...apart, 'update') : null;
  if (failed !== null) throw new Error(`No list of Debian's sources could be had: ${failed}`);
  for (const name of [...SOURCES, BINARY]) {
    const folder = join(FOLDER, 'suites', name);
    if (await stat(join(folder, WHOLE)).catch(() => null)) continue;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const failure =
      name === BINARY
        ? ((await run(folder, 'apt-get', 'download', name)) ??
          (await run(folder, 'sh', '-c', 'dpkg -x *.deb .')))
        : await run(folder, 'apt-get', ...apart, 'source', '--download-only', name);
    // The patches of Debian may be missing where the source itself is there.
    await run(folder, 'sh', '-c', 'for one in *.orig*.tar.?z *.orig*.tar.bz2; do tar xf "$one"; done');
    if (failure === null) await writeFile(join(folder, WHOLE), '');
    else say(`${name} was not read as a whole: ${failure}`);
  }
  return join(FOLDER, 'suites');
}

/** A message of a suite, in the form in which SMTP brings it. */
export interface SuiteMessage {
  /** Its file within the suites. */
  readonly source: string;
  readonly raw: Buffer;
}

/** Every message under a folder, the same one once. */
export async function messagesUnder(folder: string): Promise<readonly SuiteMessage[]> {
  const found = new Map<string, SuiteMessage>();
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  for (const path of names) {
    if ((await stat(path)).size > LARGEST) continue;
    const raw = inMailForm(await readFile(path));
    if (!hasFields(raw)) continue;
    const hash = new Bun.CryptoHasher('sha256').update(raw).digest('hex');
    if (!found.has(hash)) found.set(hash, { source: path.slice(folder.length + 1), raw });
  }
  return [...found.values()];
}
