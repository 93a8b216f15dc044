// The image `busybox`, from Debian's busybox-static: no registry is asked.

import {execFile} from 'node:child_process';
import {cpSync, mkdirSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';

const run = promisify(execFile);

export type Importer = {
	/** Where its files are put together. */
	readonly folder: string;
	readonly docker: (...words: readonly string[]) => Promise<string>;
};

export async function importBusybox({folder, docker}: Importer): Promise<void> {
	const root = path.join(folder, 'busybox');
	mkdirSync(path.join(root, 'bin'), {recursive: true});
	for (const name of ['etc', 'tmp', 'root']) mkdirSync(path.join(root, name));
	cpSync('/bin/busybox', path.join(root, 'bin/busybox'), {dereference: true});
	const {stdout} = await run('/bin/busybox', ['--list']);
	for (const name of stdout.split('\n').filter(name => name !== '' && name !== 'busybox'))
		symlinkSync('busybox', path.join(root, 'bin', name));
	const archive = path.join(folder, 'busybox.tar');
	await run('tar', ['-C', root, '-cf', archive, '.']);
	await docker('import', '-c', 'ENV PATH=/bin', '-c', 'CMD ["/bin/sh"]', archive, 'busybox:latest');
}
