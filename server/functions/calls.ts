// Calls of functions by this server: for requests at its doors, which stream, and whole ones for what it delivers itself.

import {createCallCounters, type CallCounters} from './call-counters.js';
import {callFunction, type CallParts, type FunctionName} from './call.js';
import type {CallWhole} from './delivery.js';
import {httpCaller, routedCaller, type IncomingCall} from './http-caller.js';
import {createInstanceStarts, type InstanceStarts} from './instance-starts.js';
import {InstanceConnections, type ConnectHere} from './instance-connections.js';
import {wholeCaller} from './whole-caller.js';

export type FunctionCallsOptions = Pick<CallParts, 'control' | 'clock'> & {
	readonly connectHere: ConnectHere;
	/** A call was given an instance that was not there when it began. */
	readonly onColdStart?: ((waitedMs: number) => void) | undefined;
};

export type FunctionCalls = {
	/** Calls the function with the request, whose path for the function is `path`, and answers. Throws AppError where there is no answer of it. */
	readonly call: (incoming: IncomingCall, fn: FunctionName, path: string) => Promise<void>;
	/** The same for a request that the router of a node has passed on. */
	readonly callRouted: (incoming: IncomingCall, fn: FunctionName, path: string) => Promise<void>;
	readonly callWhole: CallWhole;
	readonly counters: Pick<CallCounters, 'sinceMs' | 'of'>;
	/** Of every committed change, in order. */
	readonly hear: InstanceStarts['hear'];
	/** Connections that wait for calls are closed. */
	readonly close: () => void;
};

export function createFunctionCalls(options: FunctionCallsOptions): FunctionCalls {
	const connections = new InstanceConnections(options);
	const counters = createCallCounters(options.clock, options.onColdStart);
	const starts = createInstanceStarts(options.clock);
	const parts: CallParts = {...options, connections, counters, starts};
	return {
		call: async (incoming, fn, path) => callFunction(parts, await httpCaller(incoming, path), fn),
		callRouted: async (incoming, fn, path) => callFunction(parts, await routedCaller(incoming, path), fn),
		async callWhole(fn, call) {
			const {caller, answer} = wholeCaller(call);
			await callFunction(parts, caller, fn, call.version);
			return answer();
		},
		counters,
		hear: starts.hear,
		close: () => connections.destroy(),
	};
}
