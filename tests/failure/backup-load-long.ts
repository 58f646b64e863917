import { backUpUnderLoad } from './backup-load.ts';

// A backup while emails come in as fast as they are taken: bun tests/failure/backup-load-long.ts [emails]

const emails = Number(process.argv[2] ?? 60_000);
for (const from of ['PostgreSQL', 'PGlite'] as const) {
  const { before, during, seconds, bytes, stored, missing, codes, printed } = await backUpUnderLoad({
    from,
    emails,
    senders: 16,
    batch: 50,
  });
  const rate = Math.round(during / seconds);
  console.log(
    `${from}: ${before} acknowledged before, ${during} during ${seconds.toFixed(1)} s (${rate} a second), ${(bytes / 1e6).toFixed(1)} MB; ${stored} restored, ${missing.length} missing; exit codes ${codes.join(', ')}`,
  );
  if (missing.length > 0 || codes.some((code) => code !== 0)) {
    console.log(printed);
    process.exitCode = 1;
  }
}
process.exit();
