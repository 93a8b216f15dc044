// What the hand of a pod puts into its sandbox: volumes, then containers, each in its turn.

import {sidecarsIn} from '../../../api/sidecars.js';
import {next, tell, type Context, type Effect, type Next} from '../../../system/kernel/behavior.js';
import type {Sandbox} from '../runtime/runtime-port.js';
import {podWarning, type Assignment} from '../../protocol/sync-message.js';
import {container} from '../containers/container.js';
import type {Begin, ConfigChanged, ContainerInput} from '../containers/container-state.js';
import {reported} from './hand-report.js';
import {assignmentIn, graceMsOf, isWanted, toContainers, type HandState} from './hand-state.js';
import {podVolumes, volumesName, type PodVolumesInput, type VolumesWaiting} from './pod-volumes.js';
import {containersIn, startOrderOf} from './start-order.js';
import {hasVolumes} from './volumes.js';

/** The actors that belong into the sandbox; those that are there already are left alone. */
export function sandboxContent(state: HandState, context: Context): Effect[] {
	const assignment = assignmentIn(state.object);
	const input: PodVolumesInput = {assignment, owner: context.self};
	const volumes: Effect = {type: 'spawn', name: volumesName, behavior: podVolumes.kind, input, restart: 'permanent'};
	return [...(hasVolumes(assignment.spec) ? [volumes] : []), ...containerActors(state, context)];
}

/** The actors of all containers, at once: what runs is found whosever turn it is. Of a pod that ends they look and stop. */
export function containerActors(state: HandState, {self}: Context): Effect[] {
	const {object, sandbox, sandboxes} = state;
	const assignment = assignmentIn(object);
	if (sandbox === undefined) return [];
	return containersIn(assignment.spec).map(({container: wanted, role}): Effect => {
		// A sidecar is told when it is its turn to end.
		const stopGraceMs = isWanted(state) || role === 'sidecar' ? undefined : graceMsOf(state);
		const held = isHeld(state, wanted.name) || !isWanted(state);
		const input: ContainerInput = {assignment, container: wanted, role, held, stopGraceMs, sandbox, sandboxes, owner: self};
		return {type: 'spawn', name: wanted.name, behavior: container.kind, input, restart: 'permanent'};
	});
}

/** Whether a container has to wait for anything but the sandbox. */
function isHeld({object, sandbox}: HandState, name: string): boolean {
	const {spec} = assignmentIn(object);
	// Whether there is anything left to do for a sidecar is known when all were looked at.
	const mayBeOver = spec.restartPolicy !== 'Always' && sidecarsIn(spec).length > 0;
	return hasVolumes(spec) || hasChanged(sandbox) || mayBeOver || (containersIn(spec)[0]?.container.name !== name && hasInit(spec));
}

/** What is to be done again is known when all containers were looked at. */
const hasChanged = (sandbox: Sandbox | undefined): boolean => sandbox?.isLost === true || sandbox?.firstAttempts !== undefined;

const hasInit = ({initContainers = []}: Assignment['spec']): boolean => initContainers.length > 0;

/** Tells the containers whose turn has come; that can be known only when all were looked at. */
export function withStarts({state, effects}: Next<HandState>, {self}: Context): Next<HandState> {
	const {sandbox, containers, begun} = state;
	const {spec} = assignmentIn(state.object);
	const needsAll = hasInit(spec) || hasChanged(sandbox);
	const isKnown = !needsAll || containersIn(spec).every(({container: {name}}) => containers[name] !== undefined);
	if (sandbox === undefined || sandbox.isLost === true || !state.hasVolumes || !isWanted(state) || !isKnown) return next(state, effects);
	const {mayStart} = startOrderOf(spec, containers, sandbox.firstAttempts);
	const due = mayStart.filter(name => isHeld(state, name) && !begun.includes(name));
	if (due.length === 0) return next(state, effects);
	const message: Begin = {type: 'begin'};
	return next({...state, begun: [...begun, ...due]}, [...effects, ...due.map(name => tell(`${self}/${name}`, message))]);
}

// ---- volumes ---------------------------------------------------------------------------------------------------------------

export const volumesReady = (state: HandState, context: Context): Next<HandState> =>
	withStarts(next({...state, hasVolumes: true, awaited: undefined}), context);

/** Of volumes that were there once nothing is held back: what fails is bringing them up to date. */
export function volumesWaiting(state: HandState, {reason, message, retry}: VolumesWaiting, context: Context): Next<HandState> {
	const retried = retry === undefined ? {} : {retryAt: new Date(retry.atMs).toISOString(), retry: retry.number};
	const isNews = state.awaited?.message !== message || state.awaited.reason !== reason;
	const awaited = state.hasVolumes ? undefined : {reason, message, ...retried};
	return reported({...state, awaited}, isNews ? [podWarning('FailedMount', message)] : [], context);
}

/** Control is back: containers and volumes that wait for something of it try again at once. */
export function reportedAgain(state: HandState, context: Context): Next<HandState> {
	const {state: told, effects} = reported(state, [], context, true);
	return next(told, [...effects, ...passOnConfigChange(state, {type: 'configChanged'}, context)]);
}

/** Volumes first: containers that wait for them are held. */
export function passOnConfigChange(state: HandState, message: ConfigChanged, context: Context): Effect[] {
	const {object, sandbox} = state;
	if (sandbox === undefined) return [];
	const volumes = hasVolumes(assignmentIn(object).spec) ? [tell(`${context.self}/${volumesName}`, message)] : [];
	return [...volumes, ...toContainers(state, message, context)];
}
