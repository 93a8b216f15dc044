// Which actors are not as they should be, and which faults are on. Pure.

import type {ActorTree, FaultLook, OfSystem} from '../../api/inspect.js';
import {ageOf} from '../../api/duration.js';
import {shellWord} from '../files/shell-word.js';
import {placeOfAddress} from '../inspect/places.js';
import {flattened, isWrong} from '../inspect/tree-view.js';
import type {Actors} from './seen.js';
import type {FaultStatus, Status, Wrong} from './status.js';

/** Counted, with the systems that are silent. */
export const actorsOf = (actors: Actors): Status['actors'] => ({
	systems: actors.roots.length,
	wrong: wrongActors(actors).length,
	silent: actors.roots.flatMap(one => ('problem' in one ? [{system: one.system, problem: one.problem}] : [])),
});

export function faultsOf({roots, faults}: Actors): readonly FaultStatus[] {
	const told = (all: readonly OfSystem<{readonly faults: readonly FaultLook[]}>[]): readonly FaultLook[] =>
		all.flatMap(one => ('value' in one ? one.value.faults : (one.faults ?? [])));
	const ofSilent = roots.flatMap(one => ('problem' in one ? [one] : []));
	const heard = faults.filter(one => !ofSilent.some(({system}) => system === one.system));
	return [...told(ofSilent), ...told(heard)].map(({address, fault: {type}, text, by, leftMs}) => ({
		place: placeOfAddress(address),
		type,
		text,
		by: by ?? null,
		leftMs,
	}));
}

/** Parked, restarting and paused ones, and those that crashed a moment ago. */
export const wrongActors = ({trees}: Actors): readonly Wrong[] =>
	trees
		.flatMap(one => ('value' in one ? flattened(one.value) : []))
		.filter(isWrong)
		.flatMap(actor => wrongActor(actor) ?? []);

/** Undefined where a fault is all there is, which is told by itself, and where it runs again. */
function wrongActor(actor: ActorTree): Wrong | undefined {
	const place = placeOfAddress(actor.address);
	const says = saysOf(actor);
	return says === undefined ? undefined : {about: place, namespace: null, says, next: `troupe actor supervise ${shellWord(place)}`};
}

/** A crash that its supervisor has dealt with is news for so long; `tree` shows it for longer. */
const lateMs = 60_000;

function saysOf({state, failure, failedAgoMs, restarts, pausedForMs, faults = []}: ActorTree): string | undefined {
	const because = failure === undefined || failure === null ? '' : `: ${failure}`;
	switch (state) {
		case 'parked':
			return `is parked, its actor crashed too often${because}`;
		case 'restarting':
			return `starts again after a crash${because}`;
		case 'paused':
			return faults.length > 0 ? undefined : `is paused${pausedForMs === undefined ? '' : ` for another ${ageOf(pausedForMs)}`}`;
		case 'running':
		case 'committing':
		case 'stopping':
			if (because === '' || (failedAgoMs ?? 0) > lateMs) return undefined;
			return `crashed ${failedAgoMs === undefined ? '' : `${ageOf(failedAgoMs)} ago, `}${restarts} ${restarts === 1 ? 'restart' : 'restarts'}${because}`;
	}
}
