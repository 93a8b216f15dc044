// What every kind has in common: an actor that crashed, a deletion that waits.

import {conditionOf} from '../../api/conditions.js';
import type {ActorTree} from '../../api/inspect.js';
import {objectAddress, type Address} from '../../api/keys.js';
import type {ApiObject, Condition} from '../../api/object.js';
import {foregroundFinalizer, orphanFinalizer, isDeleting} from '../../actors/control/objects/garbage.js';
import {finding, keyOf, listText, timeOf, type Finding, lengthText, type Evidence, type Link, type NextAction} from './finding.js';

type WithConditions = {readonly conditions?: readonly Condition[]};

export const conditionsOf = ({status}: ApiObject): readonly Condition[] => (status as WithConditions | undefined)?.conditions ?? [];

/** What holds of the object whatever its kind; undefined: nothing does, and its kind has the word. */
export function generalFinding(object: ApiObject): Finding | undefined {
	if (conditionOf(conditionsOf(object), 'ActorFailed')?.status === 'True') return parkedFinding(object);
	return isDeleting(object) ? deletionOf(object) : undefined;
}

/** Its actor crashed too often and rests. */
export function parkedFinding(object: ApiObject): Finding {
	const condition = conditionOf(conditionsOf(object), 'ActorFailed');
	const crash = crashText(condition?.message ?? '');
	return finding(object, {
		state: 'wrong',
		is: 'is not looked after',
		because: `its actor crashed too often and is parked: ${crash}`,
		says: 'is not looked after: its actor is parked',
		below: [
			{
				about: `actor ${objectAddress(keyOf(object))}`,
				says: `crashed: ${crash}`,
				...timed(condition?.lastTransitionTime),
			},
		],
		next: {says: 'it is tried again by itself with a back-off, and at once when its spec changes'},
	});
}

/** Without whose crash it was: that stands beside it. */
const crashText = (message: string): string => message.replace(/^the actor "[^"]*" crashed on this message: /, '');

const timed = (time: string | undefined): {readonly atMs?: number} => {
	const atMs = timeOf(time);
	return atMs === undefined ? {} : {atMs};
};

/** What of the cluster's own holds a deletion. */
const holders: {readonly [finalizer: string]: string} = {
	[foregroundFinalizer]: 'what it owns has to go first',
	[orphanFinalizer]: 'what it owned has to be let go first',
	'kubernetes.io/pvc-protection': 'a pod still uses it',
	'kubernetes.io/pv-protection': 'a claim still has it',
	'troupe.dev/local-folder': 'its node has to remove its folder first',
	'batch.kubernetes.io/job-tracking': 'its job has to count it first',
};

/** Its deletion was asked for, and something holds it. */
export function deletionOf(object: ApiObject): Finding {
	const {finalizers = [], deletionTimestamp} = object.metadata;
	const ours = finalizers.flatMap(finalizer => holders[finalizer] ?? []);
	const others = finalizers.filter(finalizer => holders[finalizer] === undefined);
	const because =
		others.length > 0
			? `its ${others.length === 1 ? 'finalizer' : 'finalizers'} ${listText(others)} ${others.length === 1 ? 'holds' : 'hold'} it`
			: listText(ours);
	return finding(object, {
		state: others.length > 0 ? 'wrong' : 'waits',
		is: 'is being deleted',
		because,
		atMs: timeOf(deletionTimestamp),
		next: {says: others.length > 0 ? 'it goes when whoever put the finalizer there takes it away' : 'it goes by itself then'},
	});
}

// ---- actors ----------------------------------------------------------------------------------------------------------------

/** An actor that does not do what it is for: parked, starting again after a crash, or paused. */
export type Stuck = {readonly because: string; readonly link: Link; readonly next: NextAction};

/** The actor itself, or the first below it; undefined: all go on, or nothing is known of it. */
export function stuckActor(address: Address, {actorAt}: Evidence): Stuck | undefined {
	const root = actorAt(address);
	if (root === undefined) return undefined;
	const open: ActorTree[] = [root];
	for (let left = lookedAt, actor = open.pop(); actor !== undefined && left > 0; actor = open.pop(), left--) {
		const stuck = stuckIn(actor);
		if (stuck !== undefined) return stuck;
		open.push(...actor.children);
	}
	return undefined;
}

/** The first of these actors that does not do what it is for, those below them aside. */
export function firstStuck(addresses: readonly Address[], {actorAt}: Evidence): Stuck | undefined {
	const actors = addresses.map(actorAt);
	return actors.flatMap(actor => (actor === undefined ? [] : (stuckIn(actor) ?? []))).at(0);
}

/** A hand has an actor a container, and some more. */
const lookedAt = 1_000;

function stuckIn({address, state, failure: crash = '', pausedForMs, faults = []}: ActorTree): Stuck | undefined {
	const about = `actor ${address}`;
	const failure = crashText(crash);
	if (faults.length > 0)
		return {
			because: `actor ${address} has a fault that somebody made: ${faults.join('; ')}`,
			link: {about, says: `has a fault that somebody made: ${faults.join('; ')}`},
			next: {says: 'the fault ends by itself; troupe fault end ends it now'},
		};
	switch (state) {
		case 'parked':
			return {
				because: `actor ${address} crashed too often and rests: ${failure}`,
				link: {about, says: `is parked: ${failure}`},
				next: {says: 'it is tried again by itself with a back-off'},
			};
		case 'restarting':
			return {
				because: `actor ${address} crashed: ${failure}`,
				link: {about, says: `starts again after a crash: ${failure}`},
				next: {says: 'it starts again by itself'},
			};
		case 'paused': {
			const left = pausedForMs === undefined ? '' : ` for another ${lengthText(pausedForMs)}`;
			return {
				because: `actor ${address} is paused${left}`,
				link: {about, says: `is paused${left}`},
				next: {says: 'somebody resumes it, or its pause is over'},
			};
		}
		case 'running':
		case 'committing':
		case 'stopping':
			return undefined;
	}
}
