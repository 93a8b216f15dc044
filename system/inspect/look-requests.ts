// Looks as they are asked for: each at the actor of its place.

import {failed} from '../../api/errors.js';
import type {LookRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Cell} from '../kernel/cell.js';
import {linksLook, mailboxLook, stateLook, superviseLook} from './actor-look.js';
import {bugOf, cellAt, told, type Done, type Inspecting} from './inspecting.js';
import {numberIn} from './numbers.js';
import type {Slices, Work} from './slices.js';
import {deadLettersLook, journalLook, statsLook} from './system-look.js';
import {handledBelow, topLook, treeLook} from './tree-look.js';

export function look(inspecting: Inspecting, request: LookRequest, done: Done): void {
	const {system, options, usage, startedMs, slices, isSecret} = inspecting;
	const {kernel} = system;
	const found = cellAt(inspecting, request.place);
	if (!found.ok) {
		done(found);
		return;
	}
	const cell = found.value;
	switch (request.verb) {
		case 'tree': {
			const depth = numberIn(request.depth, limits.lookDepth, 0, limits.objectDepth);
			const children = numberIn(request.children, limits.lookChildren, 1, limits.lookActors);
			work(slices, treeLook(kernel, cell, {depth, children}), done);
			return;
		}
		case 'top':
			top(inspecting, cell, request, done);
			return;
		case 'state':
			done(stateLook(kernel, cell, request, isSecret));
			return;
		case 'mailbox':
			done(told(mailboxLook(cell, isSecret)));
			return;
		case 'links':
			done(told(linksLook(kernel, cell)));
			return;
		case 'supervise':
			done(told(superviseLook(kernel, cell)));
			return;
		case 'journal':
			done(told(journalLook(cell, options.journalOf)));
			return;
		case 'stats':
			done(told(statsLook(system, usage, startedMs, options.counters)));
			return;
		case 'deadletters':
			done(told(deadLettersLook(kernel)));
			return;
		case 'faults':
			done(told(inspecting.faults.look()));
	}
}

function top(inspecting: Inspecting, cell: Cell, request: Extract<LookRequest, {verb: 'top'}>, done: Done): void {
	const {system, slices} = inspecting;
	const {kernel} = system;
	const {clock} = system.options;
	const {by} = request;
	const limit = numberIn(request.limit, limits.topActors, 1, limits.topMostActors);
	if (by !== 'rate') {
		work(slices, topLook(kernel, cell, {by, limit}), done);
		return;
	}
	const beganMs = clock.monotonicMs();
	const counted = (handled: ReadonlyMap<Cell, number>): void => {
		clock.after(limits.topRateMs, () =>
			work(slices, topLook(kernel, cell, {by, limit, before: {handled, ms: clock.monotonicMs() - beganMs}}), done),
		);
	};
	slices.run(handledBelow(kernel, cell), counted, error => done({ok: false, error: bugOf(error)}));
}

function work<Result>(slices: Slices, what: Work<Result>, done: Done): void {
	if (slices.underWay >= limits.looks) {
		done(failed('ERR_BUSY', {address: 'inspector', waiting: slices.underWay}));
		return;
	}
	slices.run(
		what,
		result => done(told(result)),
		error => done({ok: false, error: bugOf(error)}),
	);
}
