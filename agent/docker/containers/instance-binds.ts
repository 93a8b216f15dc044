// What an instance of a function has of its node: its code and its runner, which it cannot change, and the folder of the socket at which its agent calls it.
//
// All of it stands in the folder of the pod, to which no other pod and no other user of the node gets. So whoever the image's user is may make the socket,
// and a socket that is found there is the pod's own.

import {chmodSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import {functionPort, type FunctionInstance} from '../../../api/function-instance.js';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {withPort} from '../../functions/program-port.js';
import {runnerArguments, runnerConfigOf, waitingArguments} from '../../functions/runner-files.js';
import {codeOf, runnerOf, socketName} from '../../functions/runner-place.js';
import type {RunnerConfig} from '../../functions/runners/runner-config.js';
import type {Bind} from './container-options.js';

/** In the folder of a pod: no container has that name. */
export const instanceFolder = (podFolder: string): string => path.join(podFolder, '.function');
/** In such a folder, of a pod or of a runner that waits: with code and runner as the folder of a pod of class process has them. */
export const homeIn = (folder: string): string => path.join(folder, 'home');
export const socketsIn = (folder: string): string => path.join(folder, 'socket');
export const instanceHome = (podFolder: string): string => homeIn(instanceFolder(podFolder));
export const socketFolder = (podFolder: string): string => socketsIn(instanceFolder(podFolder));

/** Makes both. Throws errno exceptions. */
export function makePlaces(folder: string): void {
	for (const made of [homeIn(folder), socketsIn(folder)]) mkdirSync(made, {recursive: true, mode: 0o700});
	// For the image's user, whoever that is: nobody else gets there.
	chmodSync(socketsIn(folder), 0o777);
}

/** As the container sees them. */
const seen = {code: '/function', runner: '/.troupe/runner', socket: '/.troupe/socket'};

/** What runs the runners, looked for in the PATH of the image. */
export const interpreters: Readonly<Record<FunctionLanguage, readonly [string, ...string[]]>> = {
	python: ['python3', '-I', '-B'],
	nodejs: ['node'],
};

/** The container of an instance: its runner or its own program, where that begins, and what it has of the node. */
export function instanceContainer(
	spec: OpenedSpec,
	instance: FunctionInstance,
	podFolder: string,
): {readonly spec: OpenedSpec; readonly binds: readonly Bind[]} {
	const [code, ...ofRunner] = instanceBinds(instanceFolder(podFolder));
	const hasCode = instance.artifact !== undefined;
	const inCode = hasCode ? {workingDir: seen.code} : {};
	const {runtime} = instance;
	if (runtime === 'program') return {spec: {...spec, ...inCode, env: withPort(spec.env, functionPort)}, binds: hasCode ? [code] : []};
	const words = runnerArguments(runtime, instance, {...seen, socket: seenSocket});
	return {
		spec: {...spec, ...inCode, argv: [...interpreters[runtime], ...words]},
		binds: [code, ...ofRunner],
	};
}

const seenSocket = path.posix.join(seen.socket, socketName);

const bound = (source: string, target: string, readOnly = true): Bind => ({source, target, readOnly, isDeep: false});

/** Of the folder of an instance, or of one to come: its code first. */
export const instanceBinds = (folder: string): readonly [Bind, ...Bind[]] => [
	bound(codeOf(homeIn(folder)), seen.code),
	bound(runnerOf(homeIn(folder)), seen.runner),
	bound(socketsIn(folder), seen.socket, false),
];

/** What a runner is told that waits in its container. */
export const configOf = (instance: FunctionInstance): RunnerConfig => runnerConfigOf(instance, {code: seen.code, socket: seenSocket});

/** What begins such a one; `waitingSocket` is in the folder of sockets. */
export const waitingWords = (language: FunctionLanguage, waitingSocket: string): readonly string[] => [
	...interpreters[language],
	...waitingArguments(language, seen.runner, path.posix.join(seen.socket, waitingSocket)),
];
