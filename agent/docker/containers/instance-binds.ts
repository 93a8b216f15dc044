// What an instance of a function has of its node: its code and its runner, which it cannot change, and the folder of the socket at which its agent calls it.
//
// All of it stands in the folder of the pod, to which no other pod and no other user of the node gets. So whoever the image's user is may make the socket,
// and a socket that is found there is the pod's own.

import path from 'node:path';
import {functionPort, type FunctionInstance} from '../../../api/function-instance.js';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {withPort} from '../../functions/program-port.js';
import {runnerArguments} from '../../functions/runner-files.js';
import {codeOf, runnerOf, socketName} from '../../functions/runner-place.js';
import type {Bind} from './container-options.js';

/** In the folder of a pod: no container has that name. */
export const instanceFolder = (podFolder: string): string => path.join(podFolder, '.function');
/** With code and runner as the folder of a pod of class process has them. */
export const instanceHome = (podFolder: string): string => path.join(instanceFolder(podFolder), 'home');
export const socketFolder = (podFolder: string): string => path.join(instanceFolder(podFolder), 'socket');

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
	const home = instanceHome(podFolder);
	const bound = (source: string, target: string, readOnly = true): Bind => ({source, target, readOnly, isDeep: false});
	const code = instance.artifact === undefined ? [] : [bound(codeOf(home), seen.code)];
	const inCode = code.length === 0 ? {} : {workingDir: seen.code};
	const {runtime} = instance;
	if (runtime === 'program') return {spec: {...spec, ...inCode, env: withPort(spec.env, functionPort)}, binds: code};
	const words = runnerArguments(runtime, instance, {...seen, socket: path.posix.join(seen.socket, socketName)});
	return {
		spec: {...spec, ...inCode, argv: [...interpreters[runtime], ...words]},
		binds: [...code, bound(runnerOf(home), seen.runner), bound(socketFolder(podFolder), seen.socket, false)],
	};
}
