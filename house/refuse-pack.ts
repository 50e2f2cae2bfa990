/**
 * What `npm pack` and `npm publish` run in a package's own folder. Its manifest points at sources, and a tarball of it would hold
 * nothing that runs; `house/pack.ts` stages what does, without this script.
 */
process.stderr.write(
  'A tarball made here would hold nothing that runs: "node house/pack.ts FOLDER", from the root of the clone, makes those that are published.\n',
);
process.exitCode = 1;
