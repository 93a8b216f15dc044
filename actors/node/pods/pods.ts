// The hands of a node's pods: started for what is assigned, from the cache after a restart.

import {parseObjectKey} from '../../../api/keys.js';
import {next, reply, tell, type Behavior, type Context, type Effect, type Message} from '../../../system/kernel/behavior.js';
import {handName} from '../../addresses.js';
import {assignmentKey, assignments, type AssignmentObject} from '../cache/assignment-object.js';
import {hand} from './hand.js';
import type {Assign} from './hand-state.js';
import type {LeasesForgotten} from './leases.js';

export type PodsMessage =
	| Assign
	/** Control may have forgotten what it was told: every hand reports. */
	| {readonly type: 'reportAll'}
	| LeasesForgotten;

export const pods: Behavior<null, null, PodsMessage> = {
	kind: 'Pods',
	init: (_input, context) => next(null, handsOf(context)),
	receive(_state, message, context) {
		switch (message.type) {
			case 'assign':
				return next(null, assign(message, context));
			case 'reportAll':
				return next(null, toHands({type: 'reportAgain'}, context));
			case 'leasesForgotten':
				return next(null, toHands(message, context));
		}
	},
};

const toHands = (message: Message, {self, children}: Context): Effect[] => children.map(child => tell(`${self}/${child}`, message));

const handsOf = ({known}: Context): Effect[] =>
	[...known.list(assignments)].flatMap(object => {
		const assignment = (object as AssignmentObject).spec?.assignment;
		if (assignment === undefined) return [];
		return [{type: 'spawn', name: handName(assignment), behavior: hand.kind, snapshot: assignmentKey(assignment)}];
	});

function assign(message: Assign, context: Context): readonly Effect[] {
	const child = handName(parseObjectKey(message.key));
	if (context.hasChild(child)) return [tell(`${context.self}/${child}`, message)];
	if (message.assignment === null) return reply(message.replyTo, {ok: true, value: null});
	return [{type: 'spawn', name: child, behavior: hand.kind, input: message}];
}
