// Where a pod goes: the node that is kept for it, the best one where it fits, or nowhere, with the reason.

import type {Pod} from '../../api/kinds/pod.js';
import type {Candidate} from './scheduling/candidate.js';
import {openMisfit, type Look} from './scheduling/look.js';
import {whyNowhere} from './scheduling/looking.js';
import {pick} from './scheduling/pick.js';
import type {Round} from './scheduling/round.js';

export type Placement = {readonly node: Candidate} | {readonly node: undefined; readonly why: () => string};

/** `only`: nothing has changed for the pod but on these nodes. Then it may still fit nowhere for what was said before. */
export function place(pod: Pod, look: Look, round: Round, only?: ReadonlySet<string>): Placement {
	const {uid} = pod.metadata;
	const kept = nodeKept(uid, look, round);
	if (kept !== undefined) return {node: kept};
	const {nowhere} = look;
	const isNominated = round.nominations.get(uid) !== undefined;
	// What is decided in a round only takes room away; but another pod may be one that this one wants to be near to.
	const isDecided = !isNominated && nowhere !== undefined && (!look.needs.gainsByBinds || nowhere.binds === round.binds);
	if (isDecided) return {node: undefined, why: nowhere.why};
	const node = pick(look, uid, round, look.neighbours === undefined && look.spreads.length === 0 ? only : undefined);
	if (node !== undefined) return {node};
	let text: string | undefined;
	const why = (): string => (text ??= whyNowhere(look, uid, round));
	if (!isNominated) look.nowhere = {binds: round.binds, why};
	return {node: undefined, why};
}

/** The node where room is kept for the pod, as soon as there is. */
function nodeKept(uid: string, look: Look, {byName, nominations, holdsPort}: Round): Candidate | undefined {
	const node = byName.get(nominations.get(uid) ?? '');
	return node !== undefined && look.open.includes(node) && openMisfit(look, uid, node, holdsPort) === undefined ? node : undefined;
}
