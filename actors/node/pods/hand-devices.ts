// When a pod gives back the devices of its node: once it is over, though its sandbox and its logs stay until its record goes.

import {next, tell, type Context, type Next} from '../../../system/kernel/behavior.js';
import {isUnknown, statusOf} from './hand-report.js';
import {assignmentIn, hasFailed, type HandState} from './hand-state.js';
import {infraName, type ReleaseDevices} from './infra.js';
import {sandboxSpecOf} from './sandbox-spec.js';
import {containersIn} from './start-order.js';
import type {SandboxSpec} from '../runtime/runtime-port.js';

/** What the node has ended takes none again, whichever agent looks after what is left of it. */
export function sandboxOf(state: HandState): SandboxSpec {
	const spec = sandboxSpecOf(assignmentIn(state.object));
	if (!hasFailed(state)) return spec;
	const {gpus: _gpus, ...rest} = spec;
	return rest;
}

/** Said with each news of its containers from then on: to be told twice costs nothing. */
export function withRelease({state, effects}: Next<HandState>, {self, nowMs}: Context): Next<HandState> {
	if (state.object === undefined || sandboxSpecOf(assignmentIn(state.object)).gpus === undefined || !isSpent(state, nowMs))
		return next(state, effects);
	const message: ReleaseDevices = {type: 'releaseDevices'};
	return next(state, [...effects, tell(`${self}/${infraName}`, message)]);
}

/** It is over, nothing of it runs, and nothing is about to. */
function isSpent(state: HandState, nowMs: number): boolean {
	const {ended, begun, containers} = state;
	const {phase} = statusOf(state, nowMs);
	if (isUnknown(state) || (phase !== 'Succeeded' && phase !== 'Failed')) return false;
	const left = containersIn(assignmentIn(state.object).spec).filter(({container: {name}}) => !ended.includes(name));
	if (left.length === 0) return true;
	// After an init container that failed for good the others have not begun.
	const isHeld = (name: string): boolean => !begun.includes(name) && containers[name]?.state?.waiting !== undefined;
	return !hasFailed(state) && left.every(({container: {name}}) => isHeld(name));
}
