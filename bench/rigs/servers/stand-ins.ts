// Images that stand in for those of a registry, which no test reaches: busybox with a program that listens, and what an image says of itself.

import {execFile} from 'node:child_process';
import {chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import type {Dockerd} from './dockerd.js';

const run = promisify(execFile);

/** What its Dockerfile would say: `USER 100`, `CMD ["app"]`. */
export type StandIn = {readonly names: readonly string[]; readonly says: readonly string[]};

/** Waits to be told to stop, and meanwhile answers HTTP at each port of LISTEN from the folder WWW. */
const program = `#!/bin/sh
trap 'exit 0' TERM
for port in $LISTEN; do httpd -p $port -h \${WWW:-/www}; done
sleep 1000000 &
wait
`;

const scripts: {readonly [file: string]: string} = {
	...Object.fromEntries(
		['app', 'serve', 'work', 'postgres', 'mysqld', 'mariadbd', 'nginx', 'redis-server', 'fluentd', 'python', 'apache2-foreground'].map(
			name => [`bin/${name}`, program],
		),
	),
	'srv/serve': program,
	'bin/docker-entrypoint': '#!/bin/sh\nexec "$@"\n',
	'app/migrate': '#!/bin/sh\nexit 0\n',
	'bin/pg_isready': '#!/bin/sh\nexit 0\n',
	'bin/curl': '#!/bin/sh\nexit 0\n',
	'www/index.html': 'it answers\n',
	'var/www/html/index.html': 'it answers\n',
};

/** Makes them on a daemon that has busybox. */
export async function makeStandIns(
	{folder, docker}: Dockerd,
	images: readonly StandIn[],
	more: Readonly<Record<string, string>> = {},
): Promise<void> {
	const root = mkdtempSync(path.join(folder, 'stand-in-'));
	cpSync(path.join(folder, 'busybox'), root, {recursive: true, verbatimSymlinks: true});
	for (const [file, text] of Object.entries({...scripts, ...more})) {
		mkdirSync(path.dirname(path.join(root, file)), {recursive: true});
		writeFileSync(path.join(root, file), text);
		chmodSync(path.join(root, file), 0o755);
	}
	chmodSync(root, 0o755);
	const archive = `${root}.tar`;
	await run('tar', ['-C', root, '-cf', archive, '.']);
	await Promise.all(
		images.map(async ({names: [first = '', ...others], says}) => {
			await docker('import', ...['ENV PATH=/bin', ...says].flatMap(line => ['-c', line]), archive, first);
			for (const other of others) await docker('tag', first, other);
		}),
	);
	rmSync(root, {recursive: true, force: true});
	rmSync(archive, {force: true});
}
