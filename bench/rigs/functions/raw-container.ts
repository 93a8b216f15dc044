// What a cold start of a function on Docker is measured beside: the same runner with the same code in a container of the same image, made and started
// straight through the Engine's API. Nobody looks after it.

import {mkdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {copyRunner, runnerArguments} from '../../../agent/functions/runner-files.js';
import {socketName} from '../../../agent/functions/runner-place.js';
import {runnerEnd} from '../../../agent/functions/runner-socket.js';
import {whenListens} from '../../../agent/functions/when-listens.js';
import {limits} from '../../../api/limits.js';
import {systemClock} from '../../../system/time/clock.js';
import type {Scope} from '../../harness/scope.js';
import {temporaryFolder} from '../cluster/cluster.js';
import {removeRaw, type EngineApi} from '../servers/engine-api.js';
import {fineCall} from './call.js';
import type {ColdPeer} from './cold-peers.js';

export type RawCode = {
	readonly image: string;
	/** The folder of the function. */
	readonly folder: string;
};

/** Where a pod has them. */
const seen = {code: '/function', runner: '/.troupe/runner', socket: `/.troupe/socket/${socketName}`};

export async function rawContainer(scope: Scope, engine: EngineApi, {image, folder}: RawCode): Promise<ColdPeer> {
	const own = temporaryFolder(scope, 'raw');
	const [runner, sockets] = [path.join(own, 'runner'), path.join(own, 'socket')];
	await copyRunner('python', runner);
	const instance = {runtime: 'python', concurrency: limits.functionConcurrencyDefault, timeoutMs: limits.functionTimeoutMs} as const;
	const body = {
		Image: image,
		Entrypoint: ['python3', '-I', '-B', ...runnerArguments('python', instance, seen)],
		WorkingDir: seen.code,
		HostConfig: {Binds: [`${folder}:${seen.code}:ro`, `${runner}:${seen.runner}:ro`, `${sockets}:${path.dirname(seen.socket)}`]},
	};
	return async () => {
		rmSync(sockets, {recursive: true, force: true});
		mkdirSync(sockets);
		const beganAt = performance.now();
		const {Id} = (await engine.call('POST', '/containers/create', body)) as {readonly Id: string};
		try {
			await engine.call('POST', `/containers/${Id}/start`);
			await listens(sockets);
			const startedMs = performance.now() - beganAt;
			const {firstByteMs} = await fineCall({socketPath: path.join(sockets, socketName), path: '/'}, {});
			return startedMs + firstByteMs;
		} finally {
			await removeRaw(engine, [Id]);
		}
	};
}

/** As an agent learns it. */
const listens = (home: string): Promise<void> =>
	new Promise((resolve, reject) => {
		const waiting = {timeoutMs: limits.functionLoadMs, clock: systemClock, whenEnded: () => () => undefined};
		whenListens(runnerEnd({home, owner: undefined}), waiting, outcome => {
			if (outcome.ok && outcome.value.ok) resolve();
			else reject(new Error('the runner in a raw container was not loaded'));
		});
	});
