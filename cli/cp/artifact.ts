// `troupe cp slurmjob/NAME:FILE TO`: a file that was fetched of a SlurmJob, written here whole or not at all.

import {createHash} from 'node:crypto';
import {open, rename, rm, stat} from 'node:fs/promises';
import path from 'node:path';
import type {SlurmJob} from '../../api/kinds/slurmjob.js';
import {systemRandom} from '../../system/time/random.js';
import {failedError, type Invocation} from '../command.js';
import {getOne} from '../cluster/lists.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {amount} from '../screen/amount.js';
import {withProgress} from '../screen/progress.js';

export type ArtifactCopy = {readonly job: string; readonly file: string; readonly to: string};

/** Undefined: something else is to be copied. */
export function readArtifactCopy([from = '', to, ...more]: readonly string[]): ArtifactCopy | undefined {
	const [, job, file] = /^(?:jobs?|slurmjobs?|sj)\/([^/:]+):(.+)$/i.exec(from) ?? [];
	return job === undefined || file === undefined || to === undefined || more.length > 0 ? undefined : {job, file, to};
}

export function copyArtifact(invocation: Invocation, {job, file, to}: ArtifactCopy): Promise<number> {
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const resource = resourceOf('slurmjobs');
		const {status} = (await getOne(client, resource, namespace, job)) as SlurmJob;
		const artifact = status?.artifacts?.find(({name}) => name === file);
		if (artifact === undefined) {
			const names = status?.artifacts?.map(({name}) => name) ?? [];
			throw failedError(
				`slurmjob "${job}" has no artifact "${file}"; ${names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`}`,
			);
		}
		const isFolder = await stat(to).then(
			found => found.isDirectory(),
			() => false,
		);
		const target = isFolder ? path.join(to, path.posix.basename(file)) : to;
		const place = `${pathOf(resource, namespace, job, 'artifacts')}/${file.split('/').map(encodeURIComponent).join('/')}`;
		await withProgress(invocation.terminal, 'copying', async progress => {
			let count = 0;
			const bytes = await client.stream({path: place, accept: '*/*'});
			await writeWhole(target, artifact.digest, bytes, piece => progress.show(`copying: ${amount((count += piece))}`));
		});
		return 0;
	});
}

async function writeWhole(
	target: string,
	digest: string,
	pieces: AsyncIterable<Uint8Array>,
	onBytes: (count: number) => void,
): Promise<void> {
	const partial = path.join(path.dirname(target), `.${path.basename(target)}.${systemRandom.uuid()}`);
	const hash = createHash('sha256');
	const file = await open(partial, 'wx').catch((error: Error) => Promise.reject(failedError(error.message.replace(/^[A-Z]+: /, ''))));
	try {
		for await (const piece of pieces) {
			hash.update(piece);
			await file.write(piece);
			onBytes(piece.length);
		}
		await file.close();
		if (`sha256:${hash.digest('hex')}` !== digest) throw failedError('what came is not the file that was fetched of the job; try again');
		await rename(partial, target);
	} catch (error) {
		await file.close().catch(() => undefined);
		await rm(partial, {force: true});
		throw error;
	}
}
