// What the parts of an inspector share.

import {failed, failure, succeeded, type Failure, type Outcome} from '../../api/errors.js';
import {parsePlace, type JournalLook} from '../../api/inspect.js';
import {address as addressOf, type ObjectKey} from '../../api/keys.js';
import type {Json} from '../../api/object.js';
import type {ActorSystem} from '../kernel/actor-system.js';
import type {Cell} from '../kernel/cell.js';
import type {FaultOptions, Faults} from './faults.js';
import type {IsSecret} from './portable.js';
import type {Slices} from './slices.js';
import type {Streams} from './streams.js';
import type {Usage} from './system-look.js';
import type {Tracing} from './tracing.js';
import {cut} from './tree-look.js';

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
	/** The path of the actor by which this is asked: no trace tells of its steps, and it is not paused. */
	readonly ownPath?: string | undefined;
};

export type Done = (outcome: Outcome<Json>) => void;

export type Inspecting = {
	readonly system: ActorSystem;
	readonly options: InspectorOptions;
	readonly isSecret: IsSecret;
	readonly usage: Usage;
	readonly startedMs: number;
	readonly slices: Slices;
	readonly faults: Faults;
	readonly streams: Streams;
	readonly tracing: Tracing;
	readonly ownPath: string;
};

/** A bug of the inspector, or of the state that it looked at. */
export const bugOf = (error: unknown): Failure =>
	failure('ERR_INTERNAL', {message: cut(error instanceof Error ? error.message : String(error))});

export const refused = (message: string): Outcome<never> => failed('ERR_BAD_REQUEST', {message});

/** Everything that is answered is made of plain data. */
export const told = (value: unknown): Outcome<Json> => succeeded(value as Json);

/** The actor at a place of this system. */
export function cellAt({system}: Inspecting, place: string): Outcome<Cell> {
	const parts = typeof place === 'string' ? parsePlace(place) : undefined;
	if (parts === undefined) return refused('place must be a system, or an actor of one: control, control/pods/default.web-1');
	if (parts.system !== system.name) return refused(`this is the system "${system.name}", and not "${cut(parts.system)}"`);
	const address = addressOf(system.name, parts.path);
	const cell = system.kernel.cells.get(address);
	return cell === undefined ? failed('ERR_NO_SUCH_ACTOR', {address: cut(address)}) : succeeded(cell);
}
