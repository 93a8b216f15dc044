// What answers when somebody looks into one actor system: looks, streams of what goes on, changes.
//
// Its own code never harms the system: what it throws is an answer, what takes long is done in slices, and all that it answers is bounded.

import {failed, failure, succeeded, type Failure, type Outcome} from '../../api/errors.js';
import {parsePlace, type ChangeRequest, type Inspect, type JournalLook, type LookRequest, type SystemRequest} from '../../api/inspect.js';
import {address as addressOf, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {ActorSystem} from '../kernel/actor-system.js';
import type {Cell} from '../kernel/cell.js';
import {linksLook, mailboxLook, stateLook, superviseLook} from './actor-look.js';
import {Faults, type FaultOptions} from './faults.js';
import type {IsSecret} from './portable.js';
import {Slices, type Work} from './slices.js';
import {createUsage, deadLettersLook, journalLook, statsLook, type Usage} from './system-look.js';
import {cut, handledBelow, topLook, treeLook} from './tree-look.js';

export type InspectorOptions = {
	/** What must not be shown of states and messages. */
	readonly isSecret?: IsSecret | undefined;
	/** The commits of an object, the oldest first; without it there is no journal. */
	readonly journalOf?: ((key: ObjectKey) => readonly JournalLook[]) | undefined;
	/** Counters beyond the system's own, by name. */
	readonly counters?: (() => {readonly [name: string]: number}) | undefined;
	/** Of the process, where it is not this one. */
	readonly usage?: Usage | undefined;
	/** Where faults may be made. */
	readonly faults?: FaultOptions | undefined;
};

export type Inspector = {
	readonly inspect: Inspect;
	/** Ends what is on; nothing more is answered. */
	readonly close: () => void;
};

type Done = (outcome: Outcome<Json>) => void;

/** What the parts of an inspector share. */
type Inspecting = {
	readonly system: ActorSystem;
	readonly options: InspectorOptions;
	readonly isSecret: IsSecret;
	readonly usage: Usage;
	readonly startedMs: number;
	readonly slices: Slices;
	readonly faults: Faults;
};

export function createInspector(system: ActorSystem, options: InspectorOptions = {}): Inspector {
	const {clock, executor} = system.options;
	const inspecting: Inspecting = {
		system,
		options,
		isSecret: options.isSecret ?? (() => false),
		usage: options.usage ?? createUsage(),
		startedMs: clock.monotonicMs(),
		slices: new Slices({clock, defer: executor.defer}),
		faults: new Faults(system.kernel, options.faults),
	};
	return {
		inspect(request, done) {
			let isDone = false;
			const once: Done = outcome => {
				if (isDone) return;
				isDone = true;
				done(outcome);
			};
			try {
				answer(inspecting, request, once);
			} catch (error) {
				once({ok: false, error: bugOf(error)});
			}
		},
		close() {
			inspecting.slices.close();
			inspecting.faults.close();
		},
	};
}

/** A bug of the inspector, or of the state that it looked at. */
const bugOf = (error: unknown): Failure => failure('ERR_INTERNAL', {message: cut(error instanceof Error ? error.message : String(error))});

const refused = (message: string): Outcome<never> => failed('ERR_BAD_REQUEST', {message});

function answer(inspecting: Inspecting, request: SystemRequest, done: Done): void {
	switch (request.verb) {
		case 'tree':
		case 'state':
		case 'mailbox':
		case 'links':
		case 'supervise':
		case 'journal':
		case 'top':
		case 'stats':
		case 'deadletters':
		case 'faults':
			look(inspecting, request, done);
			return;
		case 'fault':
		case 'heal':
			change(inspecting, request, done);
			return;
		default:
			done(refused(`this system knows no "${String(request.verb)}"`));
	}
}

function look(inspecting: Inspecting, request: LookRequest, done: Done): void {
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

function change(inspecting: Inspecting, request: Extract<ChangeRequest, {verb: 'fault' | 'heal'}>, done: Done): void {
	const {faults} = inspecting;
	const found = cellAt(inspecting, request.place);
	if (!found.ok) {
		done(found);
		return;
	}
	const cell = found.value;
	if (request.verb === 'heal') {
		done(succeeded({done: faults.heal(cell.parent === undefined ? undefined : cell)}));
		return;
	}
	const outcome = faults.begin(cell, request.fault, request.forMs);
	done(outcome.ok ? succeeded({done: outcome.value}) : outcome);
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

/** Everything that is answered is made of plain data. */
const told = (value: unknown): Outcome<Json> => succeeded(value as Json);

function cellAt({system}: Inspecting, place: string): Outcome<Cell> {
	const parts = typeof place === 'string' ? parsePlace(place) : undefined;
	if (parts === undefined) return refused('place must be a system, or an actor of one: control, control/pods/default.web-1');
	if (parts.system !== system.name) return refused(`this is the system "${system.name}", and not "${cut(parts.system)}"`);
	const address = addressOf(system.name, parts.path);
	const cell = system.kernel.cells.get(address);
	return cell === undefined ? failed('ERR_NO_SUCH_ACTOR', {address: cut(address)}) : succeeded(cell);
}

/** What is no number, or missing, is the usual one; beyond the bounds it is the bound. */
function numberIn(value: number | undefined, usual: number, least: number, most: number): number {
	return typeof value === 'number' && Number.isFinite(value) ? Math.min(most, Math.max(least, Math.round(value))) : usual;
}
