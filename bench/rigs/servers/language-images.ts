// Images with an interpreter, made from the programs of this host: no registry is asked. They have busybox's shell as well.

import {execFile} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {readdir} from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import {promisify} from 'node:util';
import type {Importer} from './busybox-image.js';

const run = promisify(execFile);

/** Debian's own Python, with its standard library. `lines` are of a Dockerfile, such as `USER 1000`. */
export async function importPython(importer: Importer, name: string, lines: readonly string[] = []): Promise<void> {
	const program = '/usr/bin/python3';
	const {stdout} = await run(program, ['-I', '-c', 'import sysconfig; print(sysconfig.get_path("stdlib"))']);
	const library = stdout.trim();
	const modules = path.join(library, 'lib-dynload');
	const extensions = (await readdir(modules)).map(file => path.join(modules, file));
	await importFiles(importer, name, [program, library, ...(await librariesOf([program, ...extensions]))], lines);
}

/** The Node.js that runs this. It is in PATH as `node`. */
export async function importNode(importer: Importer, name: string): Promise<void> {
	const program = process.execPath;
	await importFiles(importer, name, [program, ...(await librariesOf([program]))], [`ENV PATH=${path.dirname(program)}:/bin`]);
}

/** Where the loader finds what programs are linked with, and the loader itself: ldd(1). */
async function librariesOf(programs: readonly string[]): Promise<readonly string[]> {
	const {stdout} = await run('ldd', programs, {maxBuffer: 16 * 1024 * 1024});
	return [...new Set(stdout.match(/(?<=\s)\/\S+(?= \(0x)/g) ?? [])];
}

/** At their places. Links become what they lead to. */
async function importFiles({folder, docker}: Importer, name: string, files: readonly string[], lines: readonly string[]): Promise<void> {
	const archive = path.join(folder, `${name.replaceAll(/\W/g, '-')}.tar`);
	const list = `${archive}.list`;
	writeFileSync(list, ['/bin/busybox', ...files].map(file => file.slice(1)).join('\n'));
	await run('tar', ['-C', '/', '-chf', archive, '--exclude=*/test', '--exclude=*/dist-packages', '--exclude=*.a', '-T', list]);
	// Its shell, and a folder that all may write to.
	const busybox = ['-C', path.join(folder, 'busybox'), '-rf', archive];
	await run('tar', [...busybox, './bin/sh', './bin/cat']);
	await run('tar', [...busybox, '--mode=1777', './tmp']);
	const usual = ['ENV PATH=/usr/local/bin:/usr/bin:/bin', 'CMD ["/bin/sh"]'];
	await docker('import', ...[...usual, ...lines].flatMap(line => ['-c', line]), archive, name);
}
