// The frame around every process that serves from a home: `up`, `server` and `agent`. One at a time in a home; ready is said once
// everything is; a start that fails leaves nothing open.

import {rmSync} from 'node:fs';
import {AppError} from '../../../api/errors.js';
import {closeInheritedDescriptors} from '../../../agent/os/descriptors.js';
import {writeFileAtomic} from '../../../system/files/atomic-file.js';
import {createDeferred} from '../../../system/time/deferred.js';
import {createClosers, type Closers} from './closers.js';
import {nounOf, type Endpoints, type ServingCommand} from '../../files/endpoints.js';
import {homeOf, type Home} from '../../files/home.js';
import {openLog, type Log} from './log.js';
import {openExposition, type Exposition} from './exposition.js';
import {openActorEvents, openProcessParts, type ProcessParts} from './process-parts.js';
import {makeFolder} from '../../files/make-folder.js';
import {refuseIfRunning} from '../../files/processes.js';
import {failedError} from '../../command.js';

export type ServeContext = {
	readonly home: Home;
	readonly processParts: ProcessParts;
	readonly log: Log;
	/** Metrics of this process. */
	readonly exposition: Exposition;
	readonly actorEvents: ReturnType<typeof openActorEvents>;
	readonly closers: Closers;
	/** Ends the process, since something failed for good: a service manager starts it again, which it does not while it lingers half alive. */
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
export async function serve(
	command: ServingCommand,
	{home: root, faults}: {readonly home: string; readonly faults: boolean},
	start: (context: ServeContext) => Promise<Ready>,
): Promise<number> {
	closeInheritedDescriptors();
	refuseIfRunning(root);
	const home = homeOf(root);
	makeFolder(home.data);
	const log = openLog(home.log);
	const closers = createClosers();
	const signal = firstSignal();
	const processParts = openProcessParts(faults);
	closers.add(processParts.close);
	const exposition = openExposition(processParts.clock);
	const actorEvents = openActorEvents(exposition);
	const starting = started(
		{home, processParts, log, exposition, actorEvents, closers, fail: message => fail(log, message)},
		start,
		command,
	);
	const early = await Promise.race([starting.then(() => undefined), signal]);
	const reason = `stopping (${early ?? (await signal)})`;
	log.info(reason);
	process.stdout.write(`\n${reason}\n`);
	await closers.closeAll();
	// A start that waits for another host to answer is not waited for.
	if (early !== undefined) process.exit(0);
	const {farewell} = await starting;
	log.info(farewell);
	process.stdout.write(`${farewell}\n`);
	return 0;
}

/** What whoever starts it is to know. */
export const faultNotes = ({faults}: {readonly faults: boolean}): readonly string[] =>
	faults ? ['faults may be made here (--faults): troupe fault'] : [];

/** The first signal stops in good order; a person who cannot wait may send a second. A terminal that closes is like a SIGTERM. */
function firstSignal(): Promise<NodeJS.Signals> {
	const {promise, resolve} = createDeferred<NodeJS.Signals>();
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal));
	return promise;
}

function fail(log: Log, message: string): never {
	log.fatal(message);
	process.stderr.write(`error: ${message}\n`);
	process.exit(1);
}

async function started(context: ServeContext, start: (context: ServeContext) => Promise<Ready>, command: ServingCommand): Promise<Ready> {
	const {home, log, closers} = context;
	try {
		const ready = await start(context);
		// All that was named from here is open or known: a folder is not to be kept from being unmounted for months.
		process.chdir('/');
		await writeFileAtomic(home.endpoints, `${JSON.stringify(ready.endpoints)}\n`, 0o600);
		closers.add(() => rmSync(home.endpoints, {force: true}));
		log.info(ready.endpoints, `the ${nounOf(command)} is ready`);
		process.stdout.write(ready.text);
		return ready;
	} catch (error) {
		log.error(error instanceof Error ? error.message : String(error));
		// Why it could not start is what people have to hear.
		await closers.closeAll().catch((late: unknown) => log.warn(late, 'not everything could be closed'));
		// What could not start has failed, for one reason as for another. Of an agent scripts want to know: not reached, or refused?
		throw error instanceof AppError && command !== 'agent' ? failedError(error.message) : error;
	}
}
