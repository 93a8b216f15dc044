// The terms of one server: elected, it opens a control system of its own over the store; the moment the term is over, be it by the
// lease, by the fence or by the clock, that system is killed as a whole, and the server waits to be elected again.

import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';
import type {Election, ServerInfo, Term} from './election.js';

/** What a control system must know of the term it is opened for. */
export type TermGuard = {
	/** Whether the term is on: the system may commit, answer and order now. */
	readonly mayAct: () => boolean;
	/** To be told when the store says that another server leads, or when the term was found to be over. */
	readonly onFenced: (message: string) => void;
};

export type Led = {
	readonly begin: () => void;
	/** Drops everything at once: tree, watches, links, the connection to the store. */
	readonly kill: () => void;
	/** Ends in good order. */
	readonly stop: (done: () => void) => void;
};

export type LeadershipOptions<Control extends Led> = {
	readonly election: Election;
	readonly self: ServerInfo;
	readonly clock: Clock;
	/** Takes the store over and loads it. What fails is given up with the term, and tried again in the next one. */
	readonly open: (term: TermGuard, done: (outcome: Outcome<Control>) => void) => void;
	/** Everything is loaded; the tree begins when this returns. */
	readonly onLeading: (control: Control) => void;
	/** A term that had begun is over, and its control system is dead. */
	readonly onStandby: (reason: string) => void;
	/** Who leads, or which servers there are, has changed. */
	readonly onChanged?: () => void;
	/** A term that could not begin. */
	readonly onProblem?: (message: string) => void;
};

export type Leadership<Control extends Led> = {
	/** The control system, while this server leads. */
	readonly control: () => Control | undefined;
	readonly leader: () => ServerInfo | undefined;
	readonly servers: () => readonly ServerInfo[];
	/** Stops the control system in good order and gives the term up. */
	readonly stop: () => Promise<void>;
};

/** `over`: it was lost or given up. */
type Held<Control> = {readonly term: Term; control: Control | undefined; over: boolean};

export function lead<Control extends Led>(options: LeadershipOptions<Control>): Leadership<Control> {
	const {election, self, clock} = options;
	let held: Held<Control> | undefined;
	let stopping = false;

	const end = (ended: Held<Control>, reason: string): void => {
		if (ended.over) return;
		ended.over = true;
		if (held === ended) held = undefined;
		const {control} = ended;
		ended.control = undefined;
		control?.kill();
		// A standby would only wait longer for the lease.
		void ended.term.resign();
		if (control !== undefined) options.onStandby(reason);
	};

	const opened = (begun: Held<Control>, outcome: Outcome<Control>): void => {
		if (!outcome.ok) {
			if (!begun.over) options.onProblem?.(outcome.error.message);
			end(begun, outcome.error.message);
		} else if (begun.over || stopping) outcome.value.kill();
		else {
			begun.control = outcome.value;
			options.onLeading(outcome.value);
			outcome.value.begin();
		}
	};

	election.run(self, {
		elected(term) {
			if (stopping) return void term.resign();
			const begun: Held<Control> = {term, control: undefined, over: false};
			held = begun;
			const mayAct = (): boolean => !begun.over && clock.monotonicMs() < term.untilMs();
			options.open({mayAct, onFenced: message => end(begun, message)}, outcome => opened(begun, outcome));
		},
		lost(reason) {
			if (held !== undefined) end(held, reason);
		},
		changed: () => options.onChanged?.(),
	});

	return {
		control: () => held?.control,
		leader: election.leader,
		servers: election.servers,
		async stop() {
			stopping = true;
			const last = held;
			const control = last?.control;
			if (last !== undefined && control !== undefined) {
				// A store that does not answer ends the term, and with it the waiting.
				await new Promise<void>(resolve => {
					const kill = clock.after(Math.max(0, last.term.untilMs() - clock.monotonicMs()) + limits.shutdownMs, resolve);
					control.stop(() => {
						kill();
						resolve();
					});
				});
			}
			if (last !== undefined) end(last, 'the server is stopping');
			await election.close();
		},
	};
}
