// `GET /troupe/v1/backup`: everything the store holds as of one moment, as one file of lines. What is sealed stays sealed.

import {AppError} from '../../api/errors.js';
import {backupResource} from '../../api/roles.js';
import {writeBackup} from '../../system/store/backup.js';
import type {Handler} from './exchange.js';
import {requireOwnRight} from './rights.js';
import {write} from './stream.js';

/** For admins. A backup that breaks off lacks its end, and its reader sees so. */
export const backup: Handler = async ({control, clock, streams}, {identity, response}) => {
	requireOwnRight(identity, 'get', backupResource);
	// Taken before the head of the answer is sent: its failure can still be a Status.
	const snapshot = await control.snapshot().catch((error: unknown) => {
		const why = error instanceof Error ? error.message : String(error);
		throw new AppError('ERR_NOT_REACHABLE', {message: `the store cannot be read: ${why}`}, error);
	});
	if (snapshot.meta === undefined) throw new AppError('ERR_INTERNAL', {message: 'the store is empty'});
	let isOpen = true;
	const stop = (): void => void (isOpen = false);
	response.once('close', stop);
	streams.add(response, identity.name, stop);
	response.writeHead(200, {'content-type': 'application/jsonl; charset=utf-8', 'cache-control': 'no-store'});
	try {
		for await (const text of writeBackup(snapshot, snapshot.meta, clock.nowMs())) {
			if (!isOpen || !(await write(response, text))) break;
		}
		if (isOpen) response.end();
		else response.destroy();
	} catch (error) {
		response.destroy();
		throw error;
	}
};
