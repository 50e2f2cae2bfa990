import { freshFolder, revisit, serve } from './command.ts';
import { daemonSuite } from './daemon.oracle.ts';
import { readFolder } from './killed-daemon.ts';

daemonSuite('one process', () => {
  const data = freshFolder();
  return Promise.resolve({
    serve: (words) => serve(['--data', data, ...words]),
    add: async (urls) => {
      const added = await revisit(['add', ...urls, '--data', data, '--json']);
      return (JSON.parse(added.out) as { id: string }[]).map(({ id }) => id);
    },
    statuses: async () => {
      const pages = await revisit(['pages', '--data', data, '--json']);
      return (JSON.parse(pages.out) as { status: string }[]).map(({ status }) => status);
    },
    read: () => readFolder(data),
    end: () => Promise.resolve(),
  });
});
