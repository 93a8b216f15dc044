// A runner of functions that waits for its pod: a container of an image, joined to a sandbox that was made in advance, with folders of its own that
// become the pod's.
//
// What it keeps true: nothing of any pod is in it before it is that pod's; where it cannot be used nothing of it is left, if the Engine answers.

import {existsSync, renameSync} from 'node:fs';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import type {Clock} from '../../../system/time/clock.js';
import {makeOpen} from '../../functions/runner-files.js';
import {codeOf} from '../../functions/runner-place.js';
import {makeRunner} from '../../functions/instance-code.js';
import type {WarmRunner} from '../../functions/warm/warm-pool.js';
import {removeTree} from '../../os/trees.js';
import {mountOf} from '../containers/container-options.js';
import {instanceBinds, homeIn, makePlaces, socketsIn, waitingWords} from '../containers/instance-binds.js';
import {create, inspect, remove, start} from '../engine/calls.js';
import {labels} from '../engine/names.js';
import type {CreateOptions} from '../sandboxes/infra-options.js';
import {makeWarm, runs, type WarmMaker, type WarmSandbox} from '../sandboxes/warm-sandbox.js';
import {waitingSocketName, openWaitingSocket, type WaitingSocket} from './waiting-socket.js';

/** What instances of an image are made with, and runners that wait for further ones. */
export type RunnerTemplate = {readonly language: FunctionLanguage; readonly options: CreateOptions};

export type WaitingRunner = WarmRunner & {
	/** Of its container. */
	readonly id: string;
	readonly pid: number;
	/** What that was made with. */
	readonly options: CreateOptions;
	readonly sandbox: WarmSandbox;
	/** Resolves when it has become what the line says. Rejects with an Error; nobody knows then how far it came. */
	readonly tell: (line: string) => Promise<void>;
	/** Its folders are the pod's from now on, for good. False: the pod has some. Throws errno exceptions. */
	readonly giveFolder: (folder: string) => boolean;
	/** It is somebody's, who looks after it. */
	readonly handOut: () => void;
	/** Removes it, and its sandbox too unless it was handed out. Rejects with EngineErrors. */
	readonly remove: () => Promise<void>;
};

export type RunnerMaker = WarmMaker & {readonly clock: Clock};

export type RunnerPlace = {
	/** No other one has it: of both containers. */
	readonly hostname: string;
	/** Its own, that is not there yet, beside those of pods. */
	readonly folder: string;
};

/** Resolves when it waits. Rejects with EngineErrors and Errors. */
export async function startWaitingRunner(maker: RunnerMaker, template: RunnerTemplate, place: RunnerPlace): Promise<WaitingRunner> {
	const {engine, clock} = maker;
	const {hostname, folder} = place;
	const undo: (() => unknown)[] = [() => removeTree(folder)];
	try {
		await makeFolders(folder, template.language);
		const waitingSocket = await openWaitingSocket(socketsIn(folder), clock);
		undo.unshift(() => waitingSocket.close());
		const sandbox = await makeWarm(maker, hostname);
		undo.unshift(() => remove(engine, sandbox.id));
		const options = waitingOptions(maker, template, sandbox, place);
		const id = await create(engine, options);
		undo.unshift(() => remove(engine, id));
		await start(engine, id);
		await waitingSocket.waits();
		const {State} = await inspect(engine, id);
		return waitingRunnerOf(maker, {id, pid: State.Pid, options, sandbox, waitingSocket, folder});
	} catch (error) {
		for (const step of undo) await Promise.resolve(step()).catch(() => undefined);
		throw error;
	}
}

async function makeFolders(folder: string, language: FunctionLanguage): Promise<void> {
	await removeTree(folder);
	makePlaces(folder);
	await makeRunner(homeIn(folder), {runtime: language});
	await makeOpen(codeOf(homeIn(folder)));
}

function waitingOptions(
	{owner, cgroupParentOf}: RunnerMaker,
	{language, options}: RunnerTemplate,
	{id: infra}: WarmSandbox,
	{hostname, folder}: RunnerPlace,
): CreateOptions {
	const cgroupParent = cgroupParentOf();
	return {
		...options,
		name: ['troupe', hostname, 'function', owner.slice(0, 8)].join('_'),
		Labels: {[labels.owner]: owner, [labels.sandbox]: 'runner'},
		Entrypoint: [...waitingWords(language, waitingSocketName)],
		HostConfig: {
			...options.HostConfig,
			NetworkMode: `container:${infra}`,
			IpcMode: `container:${infra}`,
			...(cgroupParent === undefined ? {} : {CgroupParent: cgroupParent}),
			Mounts: instanceBinds(folder).map(mountOf),
		},
	};
}

type Parts = Pick<WaitingRunner, 'id' | 'pid' | 'options' | 'sandbox'> & {readonly waitingSocket: WaitingSocket; readonly folder: string};

function waitingRunnerOf({engine}: RunnerMaker, {id, pid, options, sandbox, waitingSocket, folder}: Parts): WaitingRunner {
	let isHandedOut = false;
	let isClosed = false;
	const removeAll = async (): Promise<void> => {
		waitingSocket.close();
		await remove(engine, id);
		if (!isHandedOut) await remove(engine, sandbox.id);
		// Where it is a pod's by now it is not there.
		await removeTree(folder);
	};
	const isGone = waitingSocket.closed.then(async () => {
		isClosed = true;
		// Where the Engine does not do it now, it is of nobody when it is compared with.
		if (!isHandedOut) await removeAll().catch(() => undefined);
	});
	return {
		id,
		pid,
		options,
		sandbox,
		isAlive: () => !isClosed && runs(sandbox),
		ended: isGone,
		end: () => waitingSocket.close(),
		tell: line => waitingSocket.tell(line),
		giveFolder(target) {
			if (existsSync(target)) return false;
			renameSync(folder, target);
			return true;
		},
		handOut: () => void (isHandedOut = true),
		remove: removeAll,
	};
}
