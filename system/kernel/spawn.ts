// How cells begin: put into the tree, given their first step, and begun anew from their snapshot or their input.

import type {ChildSpec, ReplyTo} from './behavior.js';
import {Cell} from './cell.js';
import {stop} from './endings.js';
import type {Kernel} from './kernel.js';
import type {StepTrigger} from './probe.js';
import {step, turn} from './steps.js';

/** Puts a cell into the tree and gives it its first step. Throws when no behaviour has that name. */
export function spawn(kernel: Kernel, parent: Cell | undefined, spec: ChildSpec, cause: string): Cell {
	const {options, cells, unsettled} = kernel;
	const behavior = options.behaviors[spec.behavior];
	if (behavior === undefined) throw new Error(`no behavior is called "${spec.behavior}"`);
	const cell = new Cell(options.name, parent, spec, behavior, ++kernel.instances);
	cells.set(cell.address, cell);
	parent?.children.set(spec.name, cell);
	cell.seat = options.executor.seat(() => turn(kernel, cell));
	const former = unsettled.get(cell.address);
	if (former === undefined) begin(kernel, cell, cause);
	else beginAfter(kernel, former, cell, cause);
	return cell;
}

/** The former actor of this name was killed in the middle of a commit: that counts as the new one's, so that two never write one object. */
function beginAfter(kernel: Kernel, former: Cell, cell: Cell, cause: string): void {
	const {instance} = cell;
	cell.committing = true;
	former.onceCommitted(() => {
		cell.committing = false;
		if (cell.status === 'running' && cell.instance === instance) begin(kernel, cell, cause);
		cell.afterCommit();
	});
}

/** `init` for a new actor, `resume` for one that has a snapshot or had one. */
export function begin(kernel: Kernel, cell: Cell, cause: string): void {
	cell.status = 'running';
	const {persistence} = cell.behavior;
	const {input, snapshot: storedKey} = cell.spec;
	const key = cell.object === undefined ? storedKey : cell.key;
	const snapshot = key === undefined ? undefined : kernel.known.get(key);
	const trigger = (type: string, replyTo?: ReplyTo): StepTrigger => ({message: {type, replyTo}, from: cell.address, cause});
	if (snapshot !== undefined && persistence !== undefined) {
		cell.object = snapshot;
		cell.key = key;
		step(kernel, cell, trigger('resume'), {type: 'resume', object: snapshot, input});
	} else if (cell.object !== undefined) {
		stop(kernel, cell, {type: 'normal'}); // The commit that was under way has removed it.
	} else {
		// A question that led to the actor is in its input: the asker is told when the first step throws.
		step(kernel, cell, trigger('init', replyToOf(input)), {type: 'init', input});
	}
}

const replyToOf = (input: unknown): ReplyTo | undefined =>
	typeof input === 'object' && input !== null ? (input as {replyTo?: ReplyTo}).replyTo : undefined;
