// The thread of a user's actors: a step of theirs that never ends holds this thread, and the other one can still end it.

import {parentPort, workerData} from 'node:worker_threads';
import path from 'node:path';
import {AppError} from '../../api/errors.js';
import {createNactExecutor} from '../../system/kernel/nact-executor.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import {loadUserModule, type UserModule} from './user-module.js';
import {openUserSystem, type OpenUserSystem} from './user-system.js';
import {sentError, type FromThread, type RunWork, type ToThread} from './thread-words.js';

const work = workerData as RunWork;
const say = (news: FromThread): void => parentPort?.postMessage(news);

function end(error: AppError | undefined): void {
	say({type: 'ended', error: error === undefined ? undefined : sentError(error)});
	parentPort?.close();
}

function open(module: UserModule): void {
	const executor = createNactExecutor(systemClock);
	const early: ToThread[] = [];
	let isReady = false;
	const take = (told: ToThread): void => {
		if (told.type === 'stop') void close();
		else if (isReady) system.tell(told.message, told.cause);
		else early.push(told);
	};
	const close = async (error?: AppError): Promise<void> => {
		parentPort?.off('message', take);
		await system.stop();
		executor.close();
		end(error);
	};
	const system: OpenUserSystem = openUserSystem({
		...work,
		module,
		about: {host: work.host, pid: work.pid, file: path.basename(work.file)},
		clock: systemClock,
		random: systemRandom,
		executor,
		onReady() {
			isReady = true;
			say({type: 'ready', root: module.root});
			for (const told of early.splice(0)) take(told);
		},
		print: text => say({type: 'print', text}),
		note: line => say({type: 'note', line}),
		onEnd: error => void close(error),
	});
	parentPort?.on('message', take);
}

try {
	const module = await loadUserModule(work.file);
	say({type: 'loaded'});
	open(module);
} catch (error) {
	if (!(error instanceof AppError)) throw error;
	end(error);
}
