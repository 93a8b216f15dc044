// The frame around every process that serves from a home: `up`, `server` and `agent`. One at a time in a home; ready is said once
// everything is; whatever fails before leaves nothing open.

import {rmSync} from 'node:fs';
import {AppError} from '../../api/errors.js';
import {closeInheritedDescriptors} from '../../agent/process/os/descriptors.js';
import {writeFileAtomic} from '../../system/files/atomic-file.js';
import {createClosers, type Closers} from './closers.js';
import {nounOf, type Endpoints, type ServingCommand} from '../files/endpoints.js';
import {endingOf} from './ending.js';
import {homeOf, type Home} from '../files/home.js';
import {openLog, type Log} from './log.js';
import {makeFolder} from '../files/make-folder.js';
import {refuseIfRunning} from '../files/processes.js';
import {failedError} from '../command.js';

export type Stage = {
	readonly home: Home;
	readonly log: Log;
	readonly closers: Closers;
	/** Ends the process: something failed for good. */
	readonly fail: (message: string) => void;
};

export type Ready = {
	readonly endpoints: Endpoints;
	/** What a person is told. */
	readonly text: string;
	/** Said when all is closed. */
	readonly farewell: string;
};

/** Runs until it is told to stop; the exit code. Throws when it cannot start, with nothing left open. */
export async function serve(command: ServingCommand, root: string, start: (stage: Stage) => Promise<Ready>): Promise<number> {
	closeInheritedDescriptors();
	refuseIfRunning(root);
	const home = homeOf(root);
	makeFolder(home.data);
	const log = openLog(home.log);
	const closers = createClosers();
	const ending = endingOf(log);
	const starting = started({home, log, closers, fail: ending.fail}, start, command);
	const early = await Promise.race([starting.then(() => undefined), ending.promise]);
	const {code, reason} = early ?? (await ending.promise);
	log.info(reason);
	process.stdout.write(`\n${reason}\n`);
	await closers.closeAll();
	// Whoever waits for another host to answer is not waited for.
	if (early !== undefined) process.exit(code);
	const {farewell} = await starting;
	log.info(farewell);
	process.stdout.write(`${farewell}\n`);
	return code;
}

async function started(stage: Stage, start: (stage: Stage) => Promise<Ready>, command: ServingCommand): Promise<Ready> {
	const {home, log, closers} = stage;
	try {
		const ready = await start(stage);
		await writeFileAtomic(home.endpoints, `${JSON.stringify(ready.endpoints)}\n`, 0o600);
		closers.add(() => rmSync(home.endpoints, {force: true}));
		log.info(ready.endpoints, `the ${nounOf(command)} is ready`);
		process.stdout.write(ready.text);
		return ready;
	} catch (error) {
		log.error(error instanceof Error ? error.message : String(error));
		// Why it could not start is what people have to hear.
		await closers.closeAll().catch((late: unknown) => log.warn(late, 'not everything could be closed'));
		// What could not start has failed, whatever it was that failed. Of an agent scripts want to know: not reached, or refused?
		throw error instanceof AppError && command !== 'agent' ? failedError(error.message) : error;
	}
}
