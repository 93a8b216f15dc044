// Streams as they are asked for: what is watched, what is traced, and for how long.

import {failed, type Outcome} from '../../api/errors.js';
import type {StreamRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {cellAt, told, type Done, type Inspecting} from './inspecting.js';
import {numberIn} from './numbers.js';
import {PlaceFilter} from './place-pattern.js';
import {Recorder} from './recorder.js';
import type {StreamOptions} from './streams.js';
import {Rate, type Trace, type Watch} from './tracing.js';

/** Each new state of one actor. */
export function watch(inspecting: Inspecting, request: Extract<StreamRequest, {verb: 'watch'}>, done: Done): void {
	const {streams, tracing} = inspecting;
	const found = cellAt(inspecting, request.place);
	if (!found.ok) {
		done(found);
		return;
	}
	const cell = found.value;
	const late: {watch?: Watch; unhook?: () => void} = {};
	const onEnd = (): void => {
		if (late.watch !== undefined) tracing.unwatch(late.watch);
		late.unhook?.();
	};
	const open = streams.open({...boundsOf(request), most: limits.streamStates, whenFull: 'forgetOldest', onEnd});
	if (open === undefined) {
		done(tooMany(inspecting));
		return;
	}
	const {stream} = open;
	late.watch = {address: cell.address, at: request.at ?? [], stream, last: undefined};
	late.unhook = cell.whenGone(() => stream.end('gone'));
	tracing.watch(late.watch, cell);
	if (!stream.isOn) onEnd();
	done(told(open.opened));
}

/** The steps of a filter, and what follows from them. */
export function trace(inspecting: Inspecting, request: Extract<StreamRequest, {verb: 'trace'}>, done: Done): void {
	const {system, streams, tracing, isSecret} = inspecting;
	const late: {trace?: Trace} = {};
	const onEnd = (): void => {
		if (late.trace !== undefined) tracing.remove(late.trace);
	};
	const filter = new PlaceFilter(system.name, request.filter);
	const bounds = boundsOf(request);
	const open =
		tracing.traces >= limits.traces ? undefined : streams.open({...bounds, most: limits.streamEntries, whenFull: 'refuseNewest', onEnd});
	if (open === undefined) {
		done(tooMany(inspecting));
		return;
	}
	const name = request.trace ?? `${system.name}:${open.opened.stream}`;
	const recorder = request.record === true ? new Recorder(isSecret) : undefined;
	late.trace = {name, filter, recorder, stream: open.stream, rate: new Rate(system.options.clock.monotonicMs())};
	tracing.add(late.trace);
	done(told(open.opened));
}

const boundsOf = ({forMs, count}: StreamRequest): Pick<StreamOptions, 'forMs' | 'count'> => ({
	forMs: numberIn(forMs, limits.inspectUsualMs, 1, limits.inspectForMs),
	count: numberIn(count, limits.inspectUsualEntries, 1, limits.inspectEntries),
});

const tooMany = ({system, streams, tracing}: Inspecting): Outcome<never> =>
	failed('ERR_BUSY', {
		message: `"${system.name}" has ${tracing.traces} traces and ${streams.size} streams on, of at most ${limits.traces} and ${limits.systemStreams}: close one, or wait until one ends`,
	});
