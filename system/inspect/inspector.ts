// Answers the requests of tools into one actor system: looks, streams of what goes on, changes.
//
// Its own code never harms the system: what it throws is an answer, what takes long is done in slices, and all that it answers is bounded.

import {succeeded} from '../../api/errors.js';
import type {ChangeRequest, Inspect, SystemRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {ActorSystem} from '../kernel/actor-system.js';
import {change} from './changes.js';
import {Faults} from './faults.js';
import {bugOf, cellAt, refused, type Done, type Inspecting, type InspectorOptions} from './inspecting.js';
import {look} from './look-requests.js';
import {numberIn} from './numbers.js';
import {Slices} from './slices.js';
import {trace, watch} from './stream-requests.js';
import {Streams} from './streams.js';
import {createUsage} from './system-look.js';
import {Tracing} from './tracing.js';

export type Inspector = {
	readonly inspect: Inspect;
	/** Ends what is on; nothing more is answered. */
	readonly close: () => void;
};

export function createInspector(system: ActorSystem, options: InspectorOptions = {}): Inspector {
	const {clock, executor} = system.options;
	const {isSecret = () => false, ownPath = 'inspector'} = options;
	const inspecting: Inspecting = {
		system,
		options,
		isSecret,
		ownPath,
		usage: options.usage ?? createUsage(),
		startedMs: clock.monotonicMs(),
		slices: new Slices({clock, defer: executor.defer}),
		faults: new Faults(system.kernel, options.faults, ownPath),
		streams: new Streams(clock),
		tracing: new Tracing(system.kernel, isSecret, ownPath),
	};
	return {
		inspect(request, done, cause = 'inspector') {
			let isDone = false;
			const once: Done = outcome => {
				if (isDone) return;
				isDone = true;
				done(outcome);
			};
			try {
				answer(inspecting, request, cause, once);
			} catch (error) {
				once({ok: false, error: bugOf(error)});
			}
		},
		close() {
			inspecting.slices.close();
			inspecting.faults.close();
			inspecting.streams.closeAll();
		},
	};
}

function answer(inspecting: Inspecting, request: SystemRequest, cause: string, done: Done): void {
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
			playFault(inspecting, request, done);
			return;
		case 'watch':
			watch(inspecting, request, done);
			return;
		case 'trace':
			trace(inspecting, request, done);
			return;
		case 'read': {
			const waitMs = numberIn(request.waitMs, 0, 0, limits.streamReadMs);
			const count = numberIn(request.count, limits.inspectReadEntries, 1, limits.streamEntries);
			inspecting.streams.read(request.stream, waitMs, count, outcome => done(outcome));
			return;
		}
		case 'close':
			inspecting.streams.close(request.stream);
			done(succeeded(null));
			return;
		case 'tell':
		case 'ask':
		case 'pause':
		case 'step':
		case 'resume':
		case 'kill':
		case 'restart': {
			const found = cellAt(inspecting, request.place);
			if (found.ok) change(found.value, request, {...inspecting, cause}, outcome => done(outcome));
			else done(found);
			return;
		}
		default:
			done(refused(`this system knows no "${String((request as {readonly verb?: unknown}).verb)}"`));
	}
}

function playFault(inspecting: Inspecting, request: Extract<ChangeRequest, {verb: 'fault' | 'heal'}>, done: Done): void {
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
	const outcome = faults.begin(cell, request.fault, request.forMs, request.by);
	done(outcome.ok ? succeeded({done: outcome.value}) : outcome);
}
